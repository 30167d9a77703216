-- A stranger who signs up must not be able to use this service as a mail relay or as a free disk. Until the operator trusts a
-- seller, mails that the seller causes are few and neutral, and the upload quota is small.
alter table sellers
  -- Set by the operator. Null: this seller is not trusted yet.
  add column trusted_at timestamptz,
  -- Where buyers reach the seller: shown on receipts and order pages, and the Reply-To of mails. Null: the sign-in address.
  add column support_email text check (support_email = lower(btrim(support_email)) and length(support_email) between 3 and 254);

-- Sellers who have already been paid were known before this mark existed.
update sellers set trusted_at = now()
where exists (select from orders where orders.seller_id = sellers.id and orders.paid_at is not null and orders.amount_minor > 0);
