-- Old notifications are removed, oldest first. Without an index each removal would read the whole table.
create index processor_events_received on processor_events (received_at);
