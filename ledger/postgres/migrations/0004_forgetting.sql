-- Forgetting less than a subject: bodies of some events, and one subject's events found quickly.
DROP INDEX @schema@.history_rare;
CREATE INDEX history_rare ON @schema@.history (type, subject_ref)
    WHERE type IN ('erasure.requested.v1', 'erasure.requested.v2', 'subject.erased.v1',
        'subject.erased.v2', 'content.erased.v1', 'content.erased.v2', 'consumer.acknowledged.v1',
        'legal_hold.lifted.v1', 'legal_hold.placed.v1', 'master_key.rotated.v1',
        'signing_key.rotated.v1');
CREATE INDEX history_subject ON @schema@.history (subject_ref, position);

-- As `delete_bodies`, those of some events.
CREATE FUNCTION @schema@.delete_bodies_of(p_tenant text, p_ids text[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = @schema@, pg_temp AS $$
DECLARE
    deleted bigint;
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    UPDATE head SET erasures = head.erasures + 1 WHERE id = 1;
    DELETE FROM bodies USING history WHERE history.position = bodies.position
        AND history.tenant = p_tenant AND history.event_id = ANY (p_ids);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END $$;
REVOKE EXECUTE ON FUNCTION @schema@.delete_bodies_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @schema@.delete_bodies_of TO @app@;
