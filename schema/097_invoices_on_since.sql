-- Since when invoices are switched on. An order that was paid later and has no invoice was settled by a release that knows no invoices and
-- ran beside this one: its invoice is issued later. The trigger notes it for the programs that do not know the column.
alter table invoice_profiles add column on_since timestamptz;
update invoice_profiles set on_since = changed_at where is_on;
create function invoices_on_since() returns trigger language plpgsql as $$
begin
  if not new.is_on then
    new.on_since = null;
  elsif tg_op = 'INSERT' or not old.is_on then
    new.on_since = now();
  end if;
  return new;
end $$;
create trigger invoice_profiles_on_since before insert or update of is_on on invoice_profiles
  for each row execute function invoices_on_since();
