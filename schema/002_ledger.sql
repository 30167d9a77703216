-- Double entry: one row debits one account and credits another by the same positive amount, so the books balance by construction.
-- (kind, cause) is the event and its object: a repeat books nothing.
create table transfers (
  kind text collate "C" not null check (kind in (
    'sale', 'fee', 'refund', 'fee_refund', 'held', 'returned', 'dispute_hold', 'dispute_release', 'dispute_loss')),
  cause text collate "C" not null,
  order_id text collate "C" not null,
  debit_account text collate "C" not null,
  credit_account text collate "C" not null,
  amount_minor bigint not null check (amount_minor > 0),
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  created_at timestamptz not null default now(),
  primary key (kind, cause),
  check (debit_account <> credit_account)
);
create index transfers_debit on transfers (debit_account, currency) include (amount_minor);
create index transfers_credit on transfers (credit_account, currency) include (amount_minor);
create index transfers_order on transfers (order_id);

-- A further entry corrects the books, never a change of one. The database enforces it.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger transfers_append_only before update or delete on transfers
  for each row execute function refuse_change();
create trigger transfers_no_truncate before truncate on transfers
  for each statement execute function refuse_change();
