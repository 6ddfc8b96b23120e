-- @title The number of posts falls behind the posts
-- Formal name: P4 lost update, and the race for the first row.
--
-- Each profile shows its number of posts. A job loads the number, adds one in the program and saves it; for a new
-- profile it creates the row. Two posts at once: both jobs load 5 and save 6, with seven posts there. With no row yet,
-- both create one, and the second post fails.

-- @schema
CREATE TABLE profiles (account int PRIMARY KEY, posts int NOT NULL);
CREATE TABLE posts (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account int NOT NULL);

-- @setup
INSERT INTO profiles VALUES (1, 5);
INSERT INTO posts (account) SELECT 1 FROM generate_series(1, 5);

-- @transaction publish
\step read
SELECT posts FROM profiles WHERE account = 1 \gset
\step write
\if :posts IS NULL
  INSERT INTO profiles VALUES (1, 1);
\else
  UPDATE profiles SET posts = :posts + 1 WHERE account = 1;
\endif
INSERT INTO posts (account) VALUES (1);

-- @session a: publish
-- @session b: publish
-- @order a read, b read, a write, a commit, b write, b commit

-- @check the profile shows the number of posts
SELECT posts = (SELECT count(*) FROM posts) FROM profiles WHERE account = 1;

-- @check nobody is sent away with a unique violation
SELECT NOT raised('23505');

-- @measure shown
SELECT posts FROM profiles WHERE account = 1;

-- @measure posts
SELECT count(*) FROM posts;

-- @expect read-committed: happens
-- @expect repeatable-read, serializable: stopped 40001 at b write

-- @variant no-row-yet
-- The first two posts of a new profile.
-- @setup
DELETE FROM profiles;
DELETE FROM posts;
-- @expect read-committed, repeatable-read: happens 23505 at b write
-- @expect serializable: stopped 40001 at b write

-- @fix upsert
-- The database adds, and creates the row where there is none.
-- @retry 10
-- @transaction publish
\step write
INSERT INTO profiles VALUES (1, 1) ON CONFLICT (account) DO UPDATE SET posts = profiles.posts + 1;
INSERT INTO posts (account) VALUES (1);
-- @order a write, b write, a commit, b commit
-- @expect read-committed: waits
-- @expect repeatable-read, serializable: stopped 40001 at b write then holds

-- @fix level-and-retry at repeatable-read, serializable
-- From REPEATABLE READ on PostgreSQL refuses the second write; the job runs again.
-- @retry 10
-- @expect repeatable-read, serializable: stopped 40001 at b write then holds
