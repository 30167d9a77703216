-- When the person of a session from the identity provider signed in there, which can be long before the session. It counts for the changes
-- that need a sign-in of the last minutes. Null: the person signed in here, when the session began.
alter table sessions add column provider_signed_in_at timestamptz;
