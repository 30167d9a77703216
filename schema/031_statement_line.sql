-- Stripe prints a card payment as the account's prefix, "* " and the suffix, and the card networks take 22 characters of it in all. The
-- line that was pinned in orders had neither the star nor its room, so what a buyer was told could differ from the bank's line. Orders
-- that were made before keep theirs, which is why the check takes both forms. It only allows more than before: no old row needs a look.
alter table orders drop constraint orders_statement_descriptor_check;
alter table orders add constraint orders_statement_descriptor_check
  check (statement_descriptor ~ '^[A-Z0-9 .*-]{5,22}$') not valid;

-- The line of a card payment: 5 to 22 characters, whatever the suffix of the product is. The suffix is cut at a word, or within a word
-- that is longer than half of the room. It needs two characters and a letter: where it lacks them, "ITEM" comes before it.
create function statement_line(prefix text, suffix text) returns text language plpgsql immutable parallel safe as $$
declare
  room constant integer := 22 - length(prefix) - 2;
  words text;
begin
  for named in 0..1 loop
    if named = 1 then suffix := 'ITEM ' || suffix; end if;
    -- one character more than there is room for: a space there ends a word that just fits
    words := case when length(suffix) <= room then suffix else regexp_replace(left(suffix, room + 1), ' [^ ]*$', '') end;
    words := rtrim(case when length(words) > room or length(words) * 2 < least(room, length(suffix)) then left(suffix, room) else words end, ' .-');
    exit when words ~ '[A-Z]' and length(words) >= 2;
  end loop;
  return prefix || '* ' || words;
end $$;
