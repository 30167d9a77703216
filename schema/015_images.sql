-- A picture of a product, in our own sizes, stored under keys made of its id. The row exists before the bytes, so that no bytes are
-- forgotten.
create table images (
  id text collate "C" primary key check (id ~ '^img_[0-9a-hjkmnp-tv-z]{26}$'),
  product_id text collate "C" not null references products,
  created_at timestamptz not null default now(),
  -- Since when no product shows it. Mails and shared links still do, so its bytes stay for a while.
  unused_since timestamptz default now(),
  -- The product's own picture.
  unique (id, product_id)
);
create index images_unused on images (unused_since) where unused_since is not null;

alter table products
  add column image_id text collate "C",
  add foreign key (image_id, id) references images (id, product_id);

-- A seller's products, newest first. The seller's storage is summed over them, and orders are found by their names.
create index products_seller on products (seller_id, id desc);
