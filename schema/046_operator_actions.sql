-- Everything that an operator does, written in the transaction that does it. Like the ledger, it is never changed.
create table operator_actions (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  -- The operator's mailbox, or "machine" for a command on the machine itself.
  actor text not null check (length(actor) between 1 and 254),
  action text collate "C" not null check (action ~ '^[a-z_]{3,40}$'),
  -- The id of the order, the seller or the file.
  subject text collate "C" not null check (length(subject) between 1 and 100),
  detail jsonb not null default '{}'
);
create index operator_actions_subject on operator_actions (subject, id);
create trigger operator_actions_append_only before update or delete on operator_actions
  for each row execute function refuse_change();
create trigger operator_actions_no_truncate before truncate on operator_actions
  for each statement execute function refuse_change();

-- When an operator took a payment of another amount as the price of its order. Until then the money was held.
alter table captures add column accepted_at timestamptz;

-- The moment until which the bank waits for an answer to an open dispute, by the processor. Null: it has not said.
alter table disputes add column respond_by timestamptz;
-- The list of sellers that operators search.
create index sellers_created on sellers (created_at, id);
