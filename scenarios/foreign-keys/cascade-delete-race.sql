-- @title An album is deleted while a photo is uploaded to it
-- Formal name: a referential action under a stale snapshot.
--
-- The album's page says that it is empty, and the owner deletes it; ON DELETE CASCADE takes its photos along. In the
-- same moment somebody uploads one. Is the photo deleted as well, is the upload refused, or is a photo left without an
-- album? The upload holds a lock on the album's row until it commits, so the delete waits, and then takes the new
-- photo along.

-- @schema
CREATE TABLE albums (id int PRIMARY KEY);
CREATE TABLE photos (id int PRIMARY KEY, album_id int NOT NULL REFERENCES albums ON DELETE CASCADE);

-- @setup
INSERT INTO albums VALUES (1);

-- @session upload
\step insert
INSERT INTO photos VALUES (1, 1);

-- @session owner
\step look
SELECT count(*) AS photos FROM photos WHERE album_id = 1 \gset
\echo the album's page shows :photos photos
\step delete
DELETE FROM albums WHERE id = 1;

-- @order owner look, upload insert, owner delete, upload commit, owner commit

-- @check no photo is left without its album
SELECT NOT EXISTS (SELECT 1 FROM photos WHERE album_id NOT IN (SELECT id FROM albums));

-- @measure photos
SELECT count(*) FROM photos;

-- @expect read-committed: waits, explored anomaly
-- @expect repeatable-read, serializable: stopped 40001 at owner delete

-- @fix retry at repeatable-read, serializable
-- From REPEATABLE READ on the owner's snapshot lacks the new photo, and PostgreSQL refuses to delete on that ground.
-- The client runs the request again, and both are gone.
-- @retry 10
-- @expect repeatable-read, serializable: stopped 40001 at owner delete then holds
