-- A product without files is not for sale: its buyer would pay and get nothing. When the last file of an active product is removed
-- or recalled, the product becomes a draft again, and its seller gets one mail.
alter table products
  -- Since when it is off sale because its last file is gone. Null: it is not off sale for that reason.
  add column off_sale_since timestamptz,
  -- When the seller's mail was enqueued, by the same transaction, so it is sent once.
  add column off_sale_told_at timestamptz;
-- Read each minute, and nearly always empty.
create index products_off_sale_untold on products (off_sale_since) where off_sale_since is not null and off_sale_told_at is null;

-- Earlier versions published products without files.
update products p set status = 'draft', version = version + 1, updated_at = now(), off_sale_since = now()
where p.status = 'active' and not exists (
  select from files f where f.product_id = p.id and f.removed_at is null
    and not exists (select from withdrawn_files w where w.seller_id = p.seller_id and w.sha256 = f.sha256));
