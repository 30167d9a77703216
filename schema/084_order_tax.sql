-- The tax within an order's amount, pinned when the order is made. Null: the seller has no tax profile, and nothing is said about tax.
alter table orders
  add column tax_minor bigint check (tax_minor >= 0 and tax_minor <= amount_minor),
  add column tax_rate numeric(6, 3) check (tax_rate >= 0 and tax_rate < 100),
  add column tax_country text collate "C" check (tax_country ~ '^[A-Z]{2}$'),
  -- why this rate: the seller's own country, one-stop-shop of the EU, the buyer owes the tax, outside the seller's taxes, no tax
  add column tax_treatment text collate "C"
    check (tax_treatment in ('domestic', 'oss', 'reverse_charge', 'outside', 'exempt'));
