-- Stripe prints a card payment as the account's prefix, "* " and the suffix, and the card networks take 22 characters of all of it.
-- The line pinned in orders had no room for the star, so the buyer's line could differ from the bank's line. Older orders keep
-- theirs, so the check accepts both forms. It allows more than before, so no old row needs a check.
alter table orders drop constraint orders_statement_descriptor_check;
alter table orders add constraint orders_statement_descriptor_check
  check (statement_descriptor ~ '^[A-Z0-9 .*-]{5,22}$') not valid;

-- The line of a card payment: 5 to 22 characters with any product's suffix. The suffix is cut at a word, or within a word that is
-- longer than half of the room. It needs two characters and a letter; without them, "ITEM" comes before it.
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
