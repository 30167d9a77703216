// The 72 hours after a change of payout details are over, for a document that waits for them.
import pg from 'pg'

const client = new pg.Client({ connectionString: process.env['DATABASE_URL'] })
await client.connect()
await client.query(`update payout_details set payable_from = now() - interval '1 second'`)
await client.end()
