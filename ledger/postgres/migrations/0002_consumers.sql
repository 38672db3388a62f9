-- Consumers that follow the log by name: how far each is, and who may move it until when.
CREATE TABLE @schema@.consumers (
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    epoch bigint NOT NULL,
    holder text NOT NULL,
    held_until timestamptz NOT NULL,
    PRIMARY KEY (tenant, name)
);
ALTER TABLE @schema@.consumers ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON @schema@.consumers TO @app@
    USING (tenant = (SELECT current_setting('beliefledger.tenant', true)));
GRANT SELECT, INSERT, UPDATE, DELETE ON @schema@.consumers TO @app@;
