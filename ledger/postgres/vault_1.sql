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
