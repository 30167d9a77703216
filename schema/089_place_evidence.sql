-- What told the buyer's country when an order with tax was made (Regulation (EU) No 282/2011, Article 24f). It is kept for ten years, apart
-- from the order, and never changed.
create table place_evidence (
  order_id text collate "C" not null references orders,
  -- The buyer said so; said so again when told of a contradiction; our proxy said so.
  source text collate "C" not null check (source in ('declared', 'confirmed', 'proxy')),
  country text collate "C" not null check (country ~ '^[A-Z]{2}$'),
  noted_at timestamptz not null default now(),
  primary key (order_id, source)
);
create index place_evidence_noted on place_evidence (noted_at);
create function keep_ten_years() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.noted_at < now() - interval '10 years' then
    return old;
  end if;
  raise exception '% is append-only', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger place_evidence_append_only before update or delete on place_evidence
  for each row execute function keep_ten_years();
create trigger place_evidence_no_truncate before truncate on place_evidence
  for each statement execute function refuse_change();

-- The tax report of a seller reads the taxed sales of a period, and what went back in it. Orders without tax are in neither.
create index orders_taxed on orders (seller_id, paid_at) where tax_treatment is not null;
create index transfers_back on transfers (created_at) include (order_id)
  where kind in ('refund', 'refund_failed', 'dispute_loss', 'dispute_return', 'tax_refund', 'tax_again');
