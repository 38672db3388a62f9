-- The tree over all events, whoever's: its leaves as hashes, its tiles, its signed heads.
CREATE FUNCTION @schema@.leaf_hashes(p_after bigint, p_upto bigint) RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
    SELECT coalesce(string_agg(sha256('\x00'::bytea || envelope), ''::bytea ORDER BY position), '')
    FROM history WHERE position > p_after AND position <= p_upto
$$;
REVOKE EXECUTE ON FUNCTION @schema@.leaf_hashes FROM PUBLIC;

-- Tiles can be computed again from the log: nothing guards them.
CREATE TABLE @schema@.tiles (
    level integer NOT NULL,
    number bigint NOT NULL,
    width integer NOT NULL,
    hashes bytea NOT NULL,
    PRIMARY KEY (level, number, width)
);

-- The head that was published last. There are never two of one size, and it does not go back.
CREATE TABLE @schema@.tree_head (
    id integer PRIMARY KEY CHECK (id = 1),
    size bigint NOT NULL,
    root bytea NOT NULL,
    note text COLLATE "C" NOT NULL
);
CREATE TRIGGER tree_head_refuses_loss BEFORE DELETE OR TRUNCATE ON @schema@.tree_head
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.refuse('the tree does not go back');
CREATE TRIGGER tree_head_only_grows BEFORE UPDATE ON @schema@.tree_head FOR EACH ROW
    WHEN (NEW.size < OLD.size OR (NEW.size = OLD.size AND NEW.root <> OLD.root))
    EXECUTE FUNCTION @schema@.refuse('the tree does not go back');

-- The history of checkpoints; of several notes of one size the last has all signatures.
CREATE TABLE @schema@.checkpoints (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    size bigint NOT NULL,
    note text COLLATE "C" NOT NULL
);
CREATE INDEX checkpoints_size ON @schema@.checkpoints (size, id);
CREATE TRIGGER checkpoints_refuse_change BEFORE UPDATE OR DELETE ON @schema@.checkpoints
    FOR EACH ROW EXECUTE FUNCTION @schema@.refuse('what was signed is kept');
CREATE TRIGGER checkpoints_refuse_truncate BEFORE TRUNCATE ON @schema@.checkpoints
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.refuse('what was signed is kept');

CREATE TABLE @schema@.signing_keys (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    vkey text COLLATE "C" NOT NULL UNIQUE
);
CREATE TRIGGER signing_keys_refuse_change BEFORE UPDATE OR DELETE ON @schema@.signing_keys
    FOR EACH ROW EXECUTE FUNCTION @schema@.refuse('a key that signed is kept');
CREATE TRIGGER signing_keys_refuse_truncate BEFORE TRUNCATE ON @schema@.signing_keys
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.refuse('a key that signed is kept');

-- The last checkpoint that the witness cosigned.
CREATE TABLE @schema@.cosigned (
    id integer PRIMARY KEY CHECK (id = 1),
    size bigint NOT NULL,
    note text COLLATE "C" NOT NULL
);
CREATE TRIGGER cosigned_refuses_loss BEFORE DELETE OR TRUNCATE ON @schema@.cosigned
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.refuse('what was cosigned is kept');
CREATE TRIGGER cosigned_only_grows BEFORE UPDATE ON @schema@.cosigned FOR EACH ROW
    WHEN (NEW.size < OLD.size) EXECUTE FUNCTION @schema@.refuse('what was cosigned is kept');

GRANT EXECUTE ON FUNCTION @schema@.leaf_hashes TO @app@;
GRANT SELECT, INSERT, UPDATE, DELETE ON @schema@.tiles TO @app@;
GRANT SELECT, INSERT, UPDATE ON @schema@.tree_head, @schema@.cosigned TO @app@;
GRANT SELECT, INSERT ON @schema@.checkpoints, @schema@.signing_keys TO @app@;
