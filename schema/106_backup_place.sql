-- Where the backup of this service is, as the service has seen it there. When that place is empty later, its disk may not be mounted.
alter table installation add column backup_place text;
