-- The tax within an order's amount, pinned when the order is made. Null: the seller has no tax profile, and nothing is said about tax.
alter table orders
  add column tax_minor bigint,
  add column tax_rate numeric(6, 3),
  add column tax_country text collate "C",
  -- Why this rate: the seller's own country, one-stop-shop of the EU, the buyer owes the tax, outside the seller's taxes, no tax.
  add column tax_treatment text collate "C";
-- All rows so far are null, so nothing has to be read while the table is locked.
alter table orders
  add constraint orders_tax_minor_check check (tax_minor >= 0 and tax_minor <= amount_minor) not valid,
  add constraint orders_tax_rate_check check (tax_rate >= 0 and tax_rate < 100) not valid,
  add constraint orders_tax_country_check check (tax_country ~ '^[A-Z]{2}$') not valid,
  add constraint orders_tax_treatment_check
    check (tax_treatment in ('domestic', 'oss', 'reverse_charge', 'outside', 'exempt')) not valid;
