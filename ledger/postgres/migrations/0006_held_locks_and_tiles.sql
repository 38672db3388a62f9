-- Nobody stops all writers for long, and tiles are computed by the database itself.
DROP FUNCTION @schema@.append;
DROP FUNCTION @schema@.delete_bodies;
DROP FUNCTION @schema@.delete_bodies_of;

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

GRANT EXECUTE ON FUNCTION @schema@.append, @schema@.delete_bodies, @schema@.delete_bodies_of,
    @schema@.end_holder TO @app@;

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

GRANT EXECUTE ON FUNCTION @schema@.extend_tiles, @schema@.mend_tile TO @app@;
REVOKE INSERT, UPDATE, DELETE ON @schema@.tiles FROM @app@;
