-- What a seller's own site or program adds to an order. The service keeps it for the seller and reads nothing from it.
alter table orders add column client_reference_id text, add column metadata jsonb;
-- Where the buyer goes on after the payment, or goes back. Checked against the seller's sites when the order is made.
alter table orders add column success_url text, add column cancel_url text;
create index orders_client_reference on orders (seller_id, client_reference_id, created_at, id) where client_reference_id is not null;

-- The seller's own sites: they may show the checkout in a frame, and an order may lead there. A host with an optional port, or with
-- "*." in front for all names below it. Always https, except on the machine of a developer (localhost).
create table sites (
  seller_id text not null references sellers,
  host text not null check (host = lower(host) and length(host) <= 260),
  created_at timestamptz not null default now(),
  primary key (seller_id, host)
);
