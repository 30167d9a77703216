-- A picture of a product, in sizes of our own making, which lie in the storage under keys made of its id. The row is there
-- before the bytes, so that none are forgotten.
create table images (
  id text collate "C" primary key check (id ~ '^img_[0-9a-hjkmnp-tv-z]{26}$'),
  product_id text collate "C" not null references products,
  created_at timestamptz not null default now(),
  -- Since when no product shows it. Mails and shared links still do, so its bytes are kept for a while.
  unused_since timestamptz default now(),
  -- A product shows a picture of its own.
  unique (id, product_id)
);
create index images_unused on images (unused_since) where unused_since is not null;

alter table products
  add column image_id text collate "C",
  add foreign key (image_id, id) references images (id, product_id);

-- A seller's products, the newest first; what of the storage is theirs is summed over them, and orders are found by their names.
create index products_seller on products (seller_id, id desc);
