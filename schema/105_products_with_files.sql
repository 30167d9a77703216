-- Whether a new buyer of the product gets any file. It stands in the row that each order reads anyway. Read from the files and the
-- recalls, it took a seventh of the time of one checkout.
-- An older program that uploads locks the tables in this order.
lock table files in share row exclusive mode;
alter table products add column has_files boolean not null default false;

-- Bytes that were recalled are removed from the product as soon as they come. An upload and a recall of the same bytes wait for each
-- other, so that one of them sees the other. Both lock the product's row first, and an order waits for that lock. A recall that has
-- waited for an upload can find its file, and then locks that product last. This can deadlock with another upload: PostgreSQL ends one of
-- the two, and the program repeats it.
create function remove_recalled_bytes() returns trigger language plpgsql as $$
begin
  perform from products where id = new.product_id for update;
  perform pg_advisory_xact_lock_shared(hashtextextended('recall ' || new.sha256, 0));
  if exists (
    select from withdrawn_files w join products p on p.seller_id = w.seller_id
    where p.id = new.product_id and w.sha256 = new.sha256
  ) then
    new.removed_at := coalesce(new.removed_at, clock_timestamp());
  end if;
  return new;
end $$;
create trigger files_recalled before insert on files
  for each row execute function remove_recalled_bytes();

create function remove_recalled_files() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('recall ' || new.sha256, 0));
  update files f set removed_at = clock_timestamp() from products p
  where p.seller_id = new.seller_id and f.product_id = p.id and f.sha256 = new.sha256 and f.removed_at is null;
  return null;
end $$;
create trigger withdrawn_files_added after insert on withdrawn_files
  for each row execute function remove_recalled_files();

create function set_has_files() returns trigger language plpgsql as $$
declare
  product text := coalesce(new.product_id, old.product_id);
begin
  -- the second statement sees what others did to the product's files before they gave the lock back
  perform from products where id = product for update;
  update products p set has_files = not p.has_files
  where p.id = product
    and p.has_files <> exists (select from files f where f.product_id = p.id and f.removed_at is null);
  return null;
end $$;
create trigger files_changed after insert or delete or update of removed_at on files
  for each row execute function set_has_files();

-- an upload beside an earlier recall may have left some
update files f set removed_at = now() from products p, withdrawn_files w
where f.product_id = p.id and w.seller_id = p.seller_id and w.sha256 = f.sha256 and f.removed_at is null;
update products p set has_files = true
where not p.has_files and exists (select from files f where f.product_id = p.id and f.removed_at is null);
