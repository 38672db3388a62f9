-- Where the log was when each consumer began: whether it was there when somebody was erased.
ALTER TABLE @schema@.consumers ADD COLUMN since bigint NOT NULL DEFAULT 0;
