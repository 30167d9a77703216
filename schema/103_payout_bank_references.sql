-- What the seller's bank shows of a payout by a processor: the UTR in India, the trace id at Stripe. Null: it is not known.
alter table processor_payouts add column bank_reference text check (length(bank_reference) between 1 and 100);
