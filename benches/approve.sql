-- @title One approval, without contention
-- What `benches/pgbench.rs` measures: each worker has a team of its own, so that nobody waits for anybody.

-- @schema
CREATE TABLE teams (id int PRIMARY KEY, budget bigint NOT NULL, spent bigint NOT NULL DEFAULT 0);
CREATE TABLE expenses (team_id int NOT NULL, amount int NOT NULL);

-- @setup
INSERT INTO teams (id, budget) SELECT id, 1000000000000 FROM generate_series(1, 100) AS id;

-- @transaction approve(team, amount)
SELECT budget, spent FROM teams WHERE id = :team \gset
\if :spent + :amount <= :budget
UPDATE teams SET spent = spent + :amount WHERE id = :team;
INSERT INTO expenses (team_id, amount) VALUES (:team, :amount);
\endif

-- @load approve(:worker, random(1, 500)) by 16 workers, for 3s
