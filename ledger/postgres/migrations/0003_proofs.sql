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

-- What is signed is published through these. They see to its form and its order: it does not go
-- beyond the log, nor back. They cannot see whether the signatures are right.

CREATE FUNCTION @schema@.check_note(p_size bigint, p_root bytea, p_note text) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
DECLARE
    lines text[] := string_to_array(p_note, E'\n');
BEGIN
    IF lines[2] IS DISTINCT FROM p_size::text
        OR lines[3] IS DISTINCT FROM coalesce(encode(p_root, 'base64'), lines[3])
        OR p_note NOT LIKE E'%\n\n— %\n'
        OR lines[1] <> (SELECT split_part(vkey, '+', 1) FROM signing_keys ORDER BY id LIMIT 1) THEN
        RAISE EXCEPTION 'this note is refused: it is no checkpoint of this log';
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.check_note FROM PUBLIC;

-- Publishes a head in the place of the one before; false where that is another.
CREATE FUNCTION @schema@.publish_head(p_before text, p_size bigint, p_root bytea, p_note text)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
BEGIN
    PERFORM check_note(p_size, p_root, p_note);
    IF p_size < 0 OR p_size > (SELECT head.position FROM head WHERE id = 1) THEN
        RAISE EXCEPTION 'a head of % events is refused: the log has fewer', p_size;
    END IF;
    IF p_before IS NULL THEN
        INSERT INTO tree_head VALUES (1, p_size, p_root, p_note) ON CONFLICT (id) DO NOTHING;
    ELSE
        UPDATE tree_head SET size = p_size, root = p_root, note = p_note
            WHERE id = 1 AND note = p_before;
    END IF;
    RETURN FOUND;
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.publish_head FROM PUBLIC;

CREATE FUNCTION @schema@.keep_checkpoint(p_size bigint, p_root bytea, p_note text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
BEGIN
    PERFORM check_note(p_size, p_root, p_note);
    IF p_size < 0 OR p_size > (SELECT head.position FROM head WHERE id = 1) THEN
        RAISE EXCEPTION 'a checkpoint of % events is refused: the log has fewer', p_size;
    END IF;
    INSERT INTO checkpoints (size, note) VALUES (p_size, p_note);
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.keep_checkpoint FROM PUBLIC;

-- Unless a larger one is kept.
CREATE FUNCTION @schema@.keep_cosigned(p_size bigint, p_note text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
BEGIN
    PERFORM check_note(p_size, NULL, p_note);
    IF p_size < 0 OR p_size > coalesce((SELECT size FROM tree_head), -1) THEN
        RAISE EXCEPTION 'a cosigned head of % events is refused: the tree has fewer', p_size;
    END IF;
    INSERT INTO cosigned AS there VALUES (1, p_size, p_note)
        ON CONFLICT (id) DO UPDATE SET size = excluded.size, note = excluded.note
        WHERE there.size <= excluded.size;
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.keep_cosigned FROM PUBLIC;

-- `<name>+<hex id>+base64(0x01 || key)`; all of one log have one name. Which of them count, the
-- checkpoints say that hand over from one to the next.
CREATE FUNCTION @schema@.know_key(p_vkey text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
DECLARE
    parts text[] := regexp_match(
        p_vkey, '^([^[:space:]+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$'
    );
    raw bytea;
BEGIN
    IF parts IS NULL THEN
        RAISE EXCEPTION 'this key is refused: it is no verifier key';
    END IF;
    raw := decode(parts[3], 'base64');
    IF get_byte(raw, 0) <> 1
        OR encode(substr(sha256(convert_to(parts[1] || E'\n', 'UTF8') || raw), 1, 4), 'hex')
            <> parts[2]
        OR parts[1] <> (SELECT split_part(vkey, '+', 1) FROM signing_keys ORDER BY id LIMIT 1) THEN
        RAISE EXCEPTION 'this key is refused: it is none of this log';
    END IF;
    INSERT INTO signing_keys (vkey) VALUES (p_vkey) ON CONFLICT (vkey) DO NOTHING;
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.know_key FROM PUBLIC;

GRANT EXECUTE ON FUNCTION @schema@.leaf_hashes, @schema@.publish_head, @schema@.keep_checkpoint,
    @schema@.keep_cosigned, @schema@.know_key TO @app@;
GRANT SELECT, INSERT, UPDATE, DELETE ON @schema@.tiles TO @app@;
GRANT SELECT ON @schema@.tree_head, @schema@.cosigned, @schema@.checkpoints, @schema@.signing_keys
    TO @app@;
