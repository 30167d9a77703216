-- Why an account of a seller has ended, in the processor's words, for the operator. Null: it has not, or it ended under an older program.
alter table connected_accounts add column ended_why text check (length(ended_why) between 1 and 300);
