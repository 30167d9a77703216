-- The parts of our fee that are done: the processor has returned them to the seller's account, or had nothing to return. The cause is that
-- of the part, by which it goes back once. All other parts are owed, and the service tries again each day.
create table returned_fees (
  cause text collate "C" primary key,
  done_at timestamptz not null default now()
);

-- The day on which the money left by this line of a bank's statement, or came back. A payout leaves once, so money that leaves for it on
-- another day was paid twice. Null: the line says the other, or an earlier program has read it.
alter table payout_statement_lines add column booked_on date, add column returned_on date;
create index payout_statement_lines_payout on payout_statement_lines (payout_id) where payout_id is not null;
