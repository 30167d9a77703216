-- Where SIGNUP=approval, a new seller prepares products at once, and sells only after the operator's approval. The operator can also
-- suspend a seller: no new sales, while buyers keep what they bought.
alter table sellers
  -- Set for a seller who signed up where approval is needed. `trusted_at` is the approval: with both, the seller sells. Sellers from
  -- before, and those who signed up where sign-up is open, have none of it and sell.
  add column approval_asked_at timestamptz,
  -- Set by the operator. Null: not suspended.
  add column suspended_at timestamptz,
  -- The seller's own storage quota, set by the operator. 0 is no limit. Null: the service's.
  add column quota_bytes bigint check (quota_bytes between 0 and 1000000000000000);
create index sellers_waiting on sellers (approval_asked_at) where approval_asked_at is not null and trusted_at is null;

-- The last mail of each kind to the operators, so that all instances together send it at most once a day.
create table operator_mails (
  kind text collate "C" primary key,
  sent_at timestamptz not null
);
