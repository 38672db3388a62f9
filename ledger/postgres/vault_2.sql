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
