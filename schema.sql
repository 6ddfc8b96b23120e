-- The expense approval that the first scenarios share: teams with a budget, and the expenses that were approved for them.

CREATE TABLE teams (
  id      text PRIMARY KEY,
  name    text NOT NULL,
  budget  int  NOT NULL,             -- in dollars
  spent   int  NOT NULL DEFAULT 0,   -- a running total, kept by those scenarios that keep one
  version int  NOT NULL DEFAULT 0    -- for optimistic locking
);

CREATE TABLE expenses (
  id          int  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  team_id     text NOT NULL REFERENCES teams,
  amount      int  NOT NULL CHECK (amount > 0),
  approved_by text NOT NULL
);
