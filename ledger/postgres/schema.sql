-- History, bodies and what guards them. @schema@, @owner@ and @app@ are filled in.
-- The app's role reads, appends through `append`, and deletes a subject's bodies through
-- `delete_bodies`; nothing else.

CREATE TABLE @schema@.head (
    id integer PRIMARY KEY CHECK (id = 1),
    position bigint NOT NULL,
    recorded_at bigint NOT NULL,
    erasures bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO @schema@.head VALUES (1, 0, 0, 0);

CREATE TABLE @schema@.history (
    position bigint PRIMARY KEY,
    stream text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    type text COLLATE "C" NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    subject_ref text COLLATE "C",
    recorded_at bigint NOT NULL,
    envelope bytea NOT NULL
);
CREATE UNIQUE INDEX history_stream ON @schema@.history (stream, version);
CREATE UNIQUE INDEX history_event ON @schema@.history (event_id);
-- What has to be found again at every start; rare, so that its index is small.
CREATE INDEX history_rare ON @schema@.history (type, subject_ref)
    WHERE type IN ('erasure.requested.v1', 'erasure.requested.v2', 'subject.erased.v1',
        'subject.erased.v2', 'content.erased.v1', 'content.erased.v2', 'consumer.acknowledged.v1',
        'legal_hold.lifted.v1', 'legal_hold.placed.v1', 'master_key.rotated.v1',
        'signing_key.rotated.v1');
CREATE INDEX history_subject ON @schema@.history (subject_ref, position);

CREATE TABLE @schema@.bodies (
    position bigint PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    body bytea NOT NULL
);

CREATE FUNCTION @schema@.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% of % is refused: %', TG_OP, TG_TABLE_NAME, TG_ARGV[0];
END $$;
CREATE TRIGGER history_refuses_change BEFORE UPDATE OR DELETE ON @schema@.history
    FOR EACH ROW EXECUTE FUNCTION @schema@.refuse('history is append-only');
CREATE TRIGGER history_refuses_truncate BEFORE TRUNCATE ON @schema@.history
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.refuse('history is append-only');
CREATE TRIGGER bodies_refuse_update BEFORE UPDATE ON @schema@.bodies
    FOR EACH ROW EXECUTE FUNCTION @schema@.refuse('a body is written once');
CREATE TRIGGER bodies_refuse_truncate BEFORE TRUNCATE ON @schema@.bodies
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.refuse('a body is deleted with its subject');
CREATE TRIGGER head_refuses_loss BEFORE DELETE OR TRUNCATE ON @schema@.head
    FOR EACH STATEMENT EXECUTE FUNCTION @schema@.refuse('the head does not go back');
CREATE TRIGGER head_only_grows BEFORE UPDATE ON @schema@.head FOR EACH ROW
    WHEN (NEW.position < OLD.position OR NEW.recorded_at < OLD.recorded_at
        OR NEW.erasures < OLD.erasures)
    EXECUTE FUNCTION @schema@.refuse('the head does not go back');

ALTER TABLE @schema@.history ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON @schema@.history FOR SELECT TO @app@
    USING (tenant = (SELECT current_setting('beliefledger.tenant', true)));
ALTER TABLE @schema@.bodies ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON @schema@.bodies TO @app@
    USING (tenant = (SELECT current_setting('beliefledger.tenant', true)));

-- Appends one batch under the head row's lock, or writes nothing and says why:
--   ok        positions `first` and on, all recorded at `at`
--   conflict  stream number `which` of p_expect is at version `actual`
--   version   the events of a stream do not have the versions that come next
--   known     an event id is in the log already
--   clock     `at` is further ahead of p_now than p_tolerance
--   ahead     p_now is further ahead of this server's clock, `at`, than p_ahead (NULL: any)
--   erased    somebody was erased since the caller looked (p_erasures)
-- It is looked first without the lock, and a refusal that stays true whatever others write is told
-- at once. The lock is waited for p_patience milliseconds. Where nothing was written meanwhile, what
-- was found still holds; else all is looked at again, and each statement sees what was committed
-- before it began. A head whose envelope has no tail is taken as it is.
CREATE FUNCTION @schema@.append(
    p_tenant text, p_now bigint, p_tolerance bigint, p_ahead bigint, p_patience integer,
    p_erasures bigint, p_erasing integer, p_expect text[], p_versions integer[],
    p_streams text[], p_stream_versions integer[], p_types text[], p_ids text[],
    p_subjects text[], p_heads bytea[], p_tails bytea[], p_bodies bytea[],
    OUT status text, OUT first bigint, OUT at bigint, OUT erasures_seen bigint,
    OUT which integer, OUT actual bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
DECLARE
    events integer := cardinality(p_streams);
    stamp bytea;
    locked boolean := false;
    looked_at bigint;
    counted bigint;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'append needs the isolation level read committed';
    END IF;
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    SELECT head.position + 1, greatest(head.recorded_at, p_now), head.erasures
        INTO first, at, erasures_seen FROM head WHERE id = 1;
    IF p_now > extract(epoch FROM clock_timestamp()) * 1000000 + p_ahead THEN
        status := 'ahead';
        at := extract(epoch FROM clock_timestamp()) * 1000000;
        RETURN;
    END IF;
    LOOP
        <<look>>
        BEGIN
            IF first > 1 AND NOT EXISTS (SELECT FROM history WHERE position = first - 1) THEN
                RAISE EXCEPTION 'position % is missing', first - 1;
            END IF;
            IF at - p_now > p_tolerance THEN
                status := 'clock';
                RETURN;
            END IF;
            FOR i IN 1 .. cardinality(p_expect) LOOP
                SELECT coalesce(max(history.version), 0) INTO actual FROM history
                    WHERE history.stream = p_expect[i];
                IF actual <> p_versions[i] THEN
                    status := 'conflict';
                    which := i;
                    IF locked OR actual > p_versions[i] THEN
                        RETURN;
                    END IF;
                    EXIT look;
                END IF;
            END LOOP;
            IF p_erasures IS NOT NULL AND p_erasures <> erasures_seen THEN
                status := 'erased';
                IF locked OR p_erasures < erasures_seen THEN
                    RETURN;
                END IF;
                EXIT look;
            END IF;
            EXIT look WHEN events = 0;
            IF events = 1 THEN
                which := array_position(p_expect, p_streams[1]);
                IF which IS NOT NULL THEN  -- looked up just now
                    actual := p_versions[which] + 1;
                ELSE
                    SELECT coalesce(max(history.version) + 1, least(p_stream_versions[1], 1))
                        INTO actual FROM history WHERE history.stream = p_streams[1];
                END IF;
                IF p_stream_versions[1] <> actual OR actual < 0 THEN
                    status := 'version';
                ELSIF EXISTS (SELECT FROM history WHERE history.event_id = p_ids[1]) THEN
                    status := 'known';
                END IF;
            ELSE
                IF EXISTS (SELECT FROM history WHERE history.event_id = ANY (p_ids))
                    OR (SELECT count(DISTINCT id) FROM unnest(p_ids) AS ids (id)) < events THEN
                    status := 'known';
                ELSIF EXISTS (
                    SELECT FROM (
                        SELECT stream, version,
                            lag(version) OVER (PARTITION BY stream ORDER BY number)
                        FROM unnest(p_streams, p_stream_versions) WITH ORDINALITY
                            AS new (stream, version, number)
                    ) AS new (stream, version, before)
                    WHERE version <> coalesce(before + 1, (SELECT max(history.version) + 1
                        FROM history WHERE history.stream = new.stream), least(version, 1))
                        OR version < 0
                ) THEN
                    status := 'version';
                END IF;
            END IF;
            IF status = 'known' THEN
                RETURN;
            END IF;
        END look;
        EXIT WHEN locked;
        looked_at := first;
        counted := erasures_seen;
        -- Whoever comes by the row and then waits, by mistake, is ended: the others wait for them.
        PERFORM set_config('lock_timeout', p_patience::text, true),
            set_config('idle_in_transaction_session_timeout', '5s', true);
        SELECT head.position + 1, greatest(head.recorded_at, p_now), head.erasures
            INTO first, at, erasures_seen FROM head WHERE id = 1 FOR UPDATE;
        locked := true;
        EXIT WHEN status IS NULL AND first = looked_at AND erasures_seen = counted;
        status := NULL;
    END LOOP;
    IF status IS NOT NULL THEN
        RETURN;
    END IF;
    IF events = 0 THEN
        status := 'ok';
        RETURN;
    END IF;
    UPDATE head SET position = head.position + events, recorded_at = at,
        erasures = head.erasures + p_erasing WHERE id = 1;
    erasures_seen := erasures_seen + p_erasing;
    stamp := convert_to(at::text, 'UTF8');
    IF events = 1 THEN
        INSERT INTO history VALUES (first, p_streams[1], p_stream_versions[1], p_types[1],
            p_ids[1], p_tenant, p_subjects[1], at,
            coalesce(p_heads[1] || stamp || p_tails[1], p_heads[1]));
        IF p_bodies[1] IS NOT NULL THEN
            INSERT INTO bodies VALUES (first, p_tenant, p_bodies[1]);
        END IF;
    ELSE
        INSERT INTO history
            SELECT append.first + number - 1, stream, version, type, id, p_tenant, subject,
                append.at, coalesce(head || stamp || tail, head)
            FROM unnest(p_streams, p_stream_versions, p_types, p_ids, p_subjects, p_heads, p_tails)
                WITH ORDINALITY AS new (stream, version, type, id, subject, head, tail, number);
        INSERT INTO bodies
            SELECT append.first + number - 1, p_tenant, body
            FROM unnest(p_bodies) WITH ORDINALITY AS new (body, number) WHERE body IS NOT NULL;
    END IF;
    PERFORM pg_notify('@channel@', (first + events - 1)::text);
    status := 'ok';
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.append FROM PUBLIC;

-- Deletes the bodies of a subject and returns how many there were. Under the head row's lock, which
-- is waited for p_patience milliseconds, and counted as an erasure: whoever sealed something before
-- has to seal it again.
CREATE FUNCTION @schema@.delete_bodies(p_tenant text, p_subject text, p_patience integer)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
DECLARE
    deleted bigint;
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    PERFORM set_config('lock_timeout', p_patience::text, true),
        set_config('idle_in_transaction_session_timeout', '5s', true);
    UPDATE head SET erasures = head.erasures + 1 WHERE id = 1;
    DELETE FROM bodies USING history WHERE history.position = bodies.position
        AND history.tenant = p_tenant AND history.subject_ref = p_subject;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.delete_bodies FROM PUBLIC;

-- As `delete_bodies`, those of some events.
CREATE FUNCTION @schema@.delete_bodies_of(p_tenant text, p_ids text[], p_patience integer)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
DECLARE
    deleted bigint;
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    PERFORM set_config('lock_timeout', p_patience::text, true),
        set_config('idle_in_transaction_session_timeout', '5s', true);
    UPDATE head SET erasures = head.erasures + 1 WHERE id = 1;
    DELETE FROM bodies USING history WHERE history.position = bodies.position
        AND history.tenant = p_tenant AND history.event_id = ANY (p_ids);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.delete_bodies_of FROM PUBLIC;

-- Who has the head row locked. Only who locks it opens `head` in these modes, keeps that lock until
-- the end of the transaction, and has a transaction id by then, also where a savepoint of theirs
-- hides whose the row's lock is. Those who still wait for the row, or for one of them, are none.
CREATE FUNCTION @schema@.head_holders() RETURNS TABLE (pid integer, its_transaction text)
LANGUAGE sql SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
    WITH locks AS MATERIALIZED (SELECT * FROM pg_locks),
    here AS (SELECT oid AS base, 'head'::regclass::oid AS head
        FROM pg_database WHERE datname = current_database()),
    opened AS (
        SELECT DISTINCT locks.pid FROM locks, here WHERE locktype = 'relation' AND granted
            AND database = base AND relation = head
            AND mode IN ('RowShareLock', 'RowExclusiveLock')
    ),
    numbered AS (
        SELECT locks.pid, virtualtransaction, transactionid FROM locks JOIN opened USING (pid)
        WHERE locktype = 'transactionid' AND granted AND mode = 'ExclusiveLock'
    )
    SELECT DISTINCT numbered.pid, virtualtransaction FROM numbered
    WHERE numbered.pid <> pg_backend_pid() AND NOT EXISTS (
        SELECT FROM locks AS its, here WHERE its.pid = numbered.pid AND NOT its.granted AND (
            (its.locktype = 'tuple' AND its.database = base AND its.relation = head)
            OR its.transactionid IN (SELECT other.transactionid FROM numbered AS other)
        )
    )
$$;
REVOKE EXECUTE ON FUNCTION @schema@.head_holders FROM PUBLIC;

-- Ends the session that keeps the head row locked, for whoever waited for it in vain. It looks on
-- for five seconds by itself, whatever it is told, so that nobody is ended who took the row just
-- now, and nobody who does not have it. What it says of it:
--   none      nobody had it all the time
--   ended     `pid`, of `login`, had it, and was ended
--   superuser `pid`, of `login`, has it, and only a superuser may end it
--   unable    the same, and the owner of this schema may end nobody
--   prepared  a transaction that was prepared has it, in no session
CREATE FUNCTION @schema@.end_holder(OUT what text, OUT pid integer, OUT login text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
DECLARE
    until timestamptz := clock_timestamp() + interval '5 seconds';
    held text[];
    found text[];
BEGIN
    LOOP
        SELECT array_agg(its_transaction), min(holders.pid) INTO found, pid
            FROM head_holders() AS holders WHERE held IS NULL OR its_transaction = ANY (held);
        IF found IS NULL THEN
            what := CASE WHEN held IS NULL AND EXISTS (
                SELECT FROM pg_locks WHERE pg_locks.pid IS NULL AND locktype = 'relation'
                    AND relation = 'head'::regclass AND database =
                        (SELECT oid FROM pg_database WHERE datname = current_database())
            ) THEN 'prepared' ELSE 'none' END;
            RETURN;
        END IF;
        held := found;
        EXIT WHEN clock_timestamp() >= until;
        PERFORM pg_sleep(0.1);
    END LOOP;
    IF cardinality(held) > 1 THEN
        what := 'none';
        pid := NULL;
        RETURN;
    END IF;
    SELECT rolname INTO login FROM pg_stat_activity AS session JOIN pg_roles ON oid = usesysid
        WHERE session.pid = end_holder.pid;
    IF login IS NULL THEN  -- gone just now, or nobody's
        what := 'none';
    ELSIF NOT pg_has_role(current_user, 'pg_signal_backend', 'USAGE') THEN
        what := 'unable';
    ELSE
        PERFORM pg_terminate_backend(pid, 1000);
        what := 'ended';
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    what := 'superuser';
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.end_holder FROM PUBLIC;

-- The next three look at every tenant's events and tell nothing that is in them.

CREATE FUNCTION @schema@.first_missing(p_after bigint, p_upto bigint) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
BEGIN
    IF (SELECT count(*) FROM history WHERE position > p_after AND position <= p_upto)
        = p_upto - p_after THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT min(wanted) FROM generate_series(p_after + 1, p_upto) AS all_of (wanted)
        WHERE NOT EXISTS (SELECT FROM history WHERE position = wanted)
    );
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.first_missing FROM PUBLIC;

CREATE FUNCTION @schema@.event_id_at(p_position bigint) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
    SELECT event_id FROM history WHERE position = p_position
$$;
REVOKE EXECUTE ON FUNCTION @schema@.event_id_at FROM PUBLIC;

-- recorded_at never goes back, so that the position can be found by halving.
CREATE FUNCTION @schema@.position_at(p_moment bigint) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
DECLARE
    low bigint := 0;
    high bigint;
    middle bigint;
    found_at bigint;
BEGIN
    SELECT head.position INTO high FROM head WHERE id = 1;
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        SELECT recorded_at INTO found_at FROM history WHERE position = middle;
        IF found_at IS NULL THEN
            RETURN -middle;
        ELSIF found_at <= p_moment THEN
            low := middle;
        ELSE
            high := middle - 1;
        END IF;
    END LOOP;
    RETURN low;
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.position_at FROM PUBLIC;

-- Consumers that follow the log by name: how far each is, and who may move it until when.
CREATE TABLE @schema@.consumers (
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    epoch bigint NOT NULL,
    holder text NOT NULL,
    held_until timestamptz NOT NULL,
    since bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, name)
);
ALTER TABLE @schema@.consumers ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON @schema@.consumers TO @app@
    USING (tenant = (SELECT current_setting('beliefledger.tenant', true)));

GRANT USAGE ON SCHEMA @schema@ TO @app@;
GRANT SELECT ON @schema@.head, @schema@.history, @schema@.bodies TO @app@;
GRANT SELECT, INSERT, UPDATE, DELETE ON @schema@.consumers TO @app@;
GRANT EXECUTE ON FUNCTION @schema@.append, @schema@.delete_bodies,
    @schema@.delete_bodies_of, @schema@.end_holder, @schema@.first_missing, @schema@.event_id_at,
    @schema@.position_at TO @app@;

-- The tree over all events, whoever's: its leaves as hashes, its tiles, its signed heads.
CREATE FUNCTION @schema@.leaf_hashes(p_after bigint, p_upto bigint) RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
    SELECT coalesce(string_agg(sha256('\x00'::bytea || envelope), ''::bytea ORDER BY position), '')
    FROM history WHERE position > p_after AND position <= p_upto
$$;
REVOKE EXECUTE ON FUNCTION @schema@.leaf_hashes FROM PUBLIC;

-- Tiles can be computed again from the log, and nobody else than the functions below does.
CREATE TABLE @schema@.tiles (
    level integer NOT NULL,
    number bigint NOT NULL,
    width integer NOT NULL,
    hashes bytea NOT NULL,
    PRIMARY KEY (level, number, width)
);
ALTER TABLE @schema@.tiles ALTER hashes SET STORAGE EXTERNAL;  -- hashes cannot be compressed

-- Tiles are computed here, from the log, and never taken from a caller. A login can have none
-- written that is wrong, and none deleted but those that a full one takes the place of.

-- The roots of full tiles, whose hashes follow one another. Pairs never reach over two of them.
CREATE FUNCTION @schema@.tile_roots(p_hashes bytea) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
DECLARE
    hashes bytea := p_hashes;
BEGIN
    FOR height IN 1 .. 8 LOOP
        SELECT string_agg(sha256('\x01'::bytea || substr(hashes, at, 64)), ''::bytea ORDER BY at)
            INTO hashes FROM generate_series(1, length(hashes), 64) AS at;
    END LOOP;
    RETURN coalesce(hashes, '');
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.tile_roots FROM PUBLIC;

-- The hashes of a tile, from the log alone; NULL where that does not have so many events.
CREATE FUNCTION @schema@.tile_of(p_level integer, p_number bigint, p_width integer) RETURNS bytea
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
DECLARE
    hashes bytea := '';
    below bytea;
BEGIN
    IF p_level = 0 THEN
        hashes := leaf_hashes(p_number * 256, p_number * 256 + p_width);
    ELSE
        FOR each IN p_number * 256 .. p_number * 256 + p_width - 1 LOOP
            below := tile_of(p_level - 1, each, 256);
            EXIT WHEN below IS NULL;
            hashes := hashes || tile_roots(below);
        END LOOP;
    END IF;
    RETURN CASE WHEN length(hashes) = 32 * p_width THEN hashes END;
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.tile_of FROM PUBLIC;

-- A full tile takes the place of all narrower ones, and where one is, no narrower one is written.
CREATE FUNCTION @schema@.put_tile(
    p_level integer, p_number bigint, p_width integer, p_hashes bytea
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
BEGIN
    IF p_width < 256 AND EXISTS (
        SELECT FROM tiles WHERE level = p_level AND number = p_number AND width = 256
    ) THEN
        RETURN;
    END IF;
    INSERT INTO tiles AS there VALUES (p_level, p_number, p_width, p_hashes)
        ON CONFLICT (level, number, width) DO UPDATE SET hashes = excluded.hashes
        WHERE there.hashes <> excluded.hashes;
    IF p_width = 256 THEN
        DELETE FROM tiles WHERE level = p_level AND number = p_number AND width < 256;
    END IF;
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.put_tile FROM PUBLIC;

-- Writes the tiles of the tree of p_upto events that the tree of p_after did not have, and returns
-- the leaves after p_after: each is hashed once. Of what a tile had before, it is taken on.
CREATE FUNCTION @schema@.extend_tiles(p_after bigint, p_upto bigint) RETURNS bytea
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
DECLARE
    leaves bytea := leaf_hashes(p_after, p_upto);
    more bytea := leaves;
    before bigint := p_after;
    after bigint := p_upto;
    tile_level integer := 0;
    tile bigint;
    wide integer;
    full_tiles integer;
    hashes bytea;
BEGIN
    IF p_after < 0 OR p_after > p_upto OR length(leaves) <> 32 * (p_upto - p_after) THEN
        RETURN leaves;  -- fewer than were asked for
    END IF;
    WHILE after > before LOOP
        tile := before / 256;
        wide := before % 256;
        hashes := '';
        IF wide > 0 THEN
            SELECT substr(tiles.hashes, 1, 32 * wide) INTO hashes FROM tiles
                WHERE level = tile_level AND number = tile AND width >= wide
                ORDER BY width LIMIT 1;
            IF hashes IS NULL OR length(hashes) <> 32 * wide THEN
                hashes := tile_of(tile_level, tile, wide);
            END IF;
        END IF;
        hashes := hashes || more;
        full_tiles := length(hashes) / 8192;
        FOR each IN 0 .. full_tiles - 1 LOOP
            PERFORM put_tile(tile_level, tile + each, 256, substr(hashes, 8192 * each + 1, 8192));
        END LOOP;
        wide := length(hashes) % 8192 / 32;
        IF wide > 0 THEN
            PERFORM put_tile(tile_level, tile + full_tiles, wide,
                substr(hashes, 8192 * full_tiles + 1));
        END IF;
        EXIT WHEN full_tiles = 0;
        more := tile_roots(substr(hashes, 1, 8192 * full_tiles));
        before := before / 256;
        after := after / 256;
        tile_level := tile_level + 1;
    END LOOP;
    RETURN leaves;
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.extend_tiles FROM PUBLIC;

-- Computes a tile anew, from the log and from no other tile; false where the log has no such one.
CREATE FUNCTION @schema@.mend_tile(p_level integer, p_number bigint, p_width integer)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
DECLARE
    hashes bytea;
BEGIN
    IF p_level NOT BETWEEN 0 AND 6 OR p_width NOT BETWEEN 1 AND 256 OR p_number < 0 THEN
        RETURN false;
    ELSIF p_number > (SELECT position FROM head) >> 8 * (p_level + 1) THEN
        RETURN false;
    ELSIF p_number * 256 + p_width > (SELECT position FROM head) >> 8 * p_level THEN
        RETURN false;
    END IF;
    hashes := tile_of(p_level, p_number, p_width);
    IF hashes IS NULL THEN
        RETURN false;
    END IF;
    PERFORM put_tile(p_level, p_number, p_width, hashes);
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.mend_tile FROM PUBLIC;

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

GRANT EXECUTE ON FUNCTION @schema@.leaf_hashes, @schema@.extend_tiles, @schema@.mend_tile,
    @schema@.publish_head, @schema@.keep_checkpoint, @schema@.keep_cosigned, @schema@.know_key
    TO @app@;
GRANT SELECT ON @schema@.tiles, @schema@.tree_head, @schema@.cosigned, @schema@.checkpoints,
    @schema@.signing_keys TO @app@;
