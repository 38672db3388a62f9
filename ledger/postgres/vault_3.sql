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
