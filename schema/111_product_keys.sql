-- What a client sent when it made a product. A repeat with the same key returns that product. Both are hashes; the key's one has the seller in it.
alter table products
  add column idempotency_key bytea unique,
  add column request_hash bytea;
