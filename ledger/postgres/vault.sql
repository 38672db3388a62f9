-- The vault. @vault@ and @app@ are filled in. The app's role owns the tables, so that it may rewrite
-- `keys` once one is destroyed; row-level security is forced on their owner, too. Each tenant has a
-- vault of its own in them, pepper and principals included.

CREATE TABLE @vault@.meta (
    tenant text COLLATE "C" NOT NULL DEFAULT current_setting('beliefledger.tenant'),
    name text COLLATE "C" NOT NULL,
    value bytea NOT NULL,
    PRIMARY KEY (tenant, name)
);
CREATE TABLE @vault@.keys (
    subject_ref text COLLATE "C" PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    kek_id text NOT NULL,
    lookup bytea NOT NULL UNIQUE,
    wrapped bytea NOT NULL,
    sealed_id bytea NOT NULL
);
-- Statistics keep copies of values, which would outlive the row.
ALTER TABLE @vault@.keys ALTER COLUMN wrapped SET STATISTICS 0;
ALTER TABLE @vault@.keys ALTER COLUMN sealed_id SET STATISTICS 0;
CREATE INDEX keys_by_tenant ON @vault@.keys (tenant, subject_ref);
CREATE TABLE @vault@.tombstones (
    tenant text COLLATE "C" NOT NULL DEFAULT current_setting('beliefledger.tenant'),
    subject_ref text COLLATE "C" PRIMARY KEY,
    lookup bytea NOT NULL,
    erased_at bigint NOT NULL
);
CREATE INDEX tombstones_by_lookup ON @vault@.tombstones (lookup);
CREATE TABLE @vault@.principals (
    tenant text COLLATE "C" NOT NULL DEFAULT current_setting('beliefledger.tenant'),
    principal_ref text COLLATE "C" PRIMARY KEY,
    lookup bytea NOT NULL UNIQUE,
    sealed_name bytea NOT NULL
);

ALTER TABLE @vault@.meta ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON @vault@.meta TO @app@
    USING (tenant = (SELECT current_setting('beliefledger.tenant', true)));
ALTER TABLE @vault@.keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON @vault@.keys TO @app@
    USING (tenant = (SELECT current_setting('beliefledger.tenant', true)));
ALTER TABLE @vault@.tombstones ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON @vault@.tombstones TO @app@
    USING (tenant = (SELECT current_setting('beliefledger.tenant', true)));
ALTER TABLE @vault@.principals ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON @vault@.principals TO @app@
    USING (tenant = (SELECT current_setting('beliefledger.tenant', true)));

-- Counts how often keys went or changed, by whatever hand: others then forget what they remember.
-- A new key needs no counting, since nobody remembers that there was none.
CREATE TABLE @vault@.changes (
    id integer PRIMARY KEY CHECK (id = 1),
    count bigint NOT NULL
);
INSERT INTO @vault@.changes VALUES (1, 0);
CREATE FUNCTION @vault@.count_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE @vault@.changes SET count = count + 1 WHERE id = 1;
    RETURN NULL;
END $$;
CREATE TRIGGER keys_changed AFTER UPDATE OR DELETE OR TRUNCATE ON @vault@.keys
    FOR EACH STATEMENT EXECUTE FUNCTION @vault@.count_change();

-- Which events of living subjects were erased, by the erasure.
CREATE TABLE @vault@.erasures (
    tenant text COLLATE "C" NOT NULL DEFAULT current_setting('beliefledger.tenant'),
    erasure text COLLATE "C" PRIMARY KEY,
    subject_ref text COLLATE "C" NOT NULL,
    events bytea NOT NULL,
    erased_at bigint NOT NULL
);
CREATE INDEX erasures_by_subject ON @vault@.erasures (subject_ref);
ALTER TABLE @vault@.erasures ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON @vault@.erasures TO @app@
    USING (tenant = (SELECT current_setting('beliefledger.tenant', true)));

-- What the vault ever came to hold, entry after entry: see ledger/register.py. Rows stay as they are,
-- but for `mac`, which a rotation of the master key writes anew.
CREATE TABLE @vault@.register (
    tenant text COLLATE "C" NOT NULL DEFAULT current_setting('beliefledger.tenant'),
    serial bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    ref text COLLATE "C" NOT NULL,
    lookup bytea,
    detail text COLLATE "C" NOT NULL,
    chain bytea NOT NULL,
    mac bytea NOT NULL,
    PRIMARY KEY (tenant, serial)
);
CREATE INDEX register_by_lookup ON @vault@.register (lookup);
CREATE INDEX register_by_ref ON @vault@.register (kind, ref) WHERE kind <> 'key';
ALTER TABLE @vault@.register ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON @vault@.register TO @app@
    USING (tenant = (SELECT current_setting('beliefledger.tenant', true)));
CREATE FUNCTION @vault@.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the register is append-only';
END $$;
CREATE TRIGGER register_refuses_update
    BEFORE UPDATE OF tenant, serial, kind, ref, lookup, detail, chain ON @vault@.register
    FOR EACH STATEMENT EXECUTE FUNCTION @vault@.refuse_change();
CREATE TRIGGER register_refuses_delete BEFORE DELETE OR TRUNCATE ON @vault@.register
    FOR EACH STATEMENT EXECUTE FUNCTION @vault@.refuse_change();
