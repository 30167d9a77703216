-- An early 017 made an index under a name that 015 uses since. So it must go before 015 comes: 017 has made a better one since.
do $$
begin
  if not exists (select from kysely_migration where name = '015_images') then
    drop index if exists products_seller;
  end if;
end
$$;
