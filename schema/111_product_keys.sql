-- What a client sent when it made a product. A repeat with the same key returns that product. Both are hashes; that of the key includes the seller.
alter table products
  add column idempotency_key bytea unique,
  add column request_hash bytea;
