import { PgBoss } from 'pg-boss'
import { connect } from '../../src/kit/database.ts'
import { migrate } from '../../src/kit/migrate.ts'

/** Gives a database the tables of this release and of its job library, as a start of the service does, and runs no job. */
export async function bringUp(url: string, schema: string): Promise<void> {
  const { db, close } = connect({ connectionString: url }, { connections: 1, patient: true })
  await migrate(db, schema).finally(close)
  const boss = new PgBoss({ connectionString: url, max: 1, supervise: false, schedule: false })
  boss.on('error', (error) => console.error(error))
  await boss.start()
  await boss.stop({ graceful: false })
}
