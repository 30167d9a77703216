import { CompiledQuery, type RawBuilder, sql } from 'kysely'
import type { Db } from './database.ts'

/** Stands for a value while a statement is built. */
class Given {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** Names a value that each run gives. */
export type GivenValue<Name extends string> = (name: Name) => RawBuilder<unknown>

/**
 * Builds and compiles a statement at its first run. Later runs only fill in the values, because building and compiling the statement of
 * an order takes a tenth of a checkout's CPU time. So `build` must not depend on anything that changes between runs: it writes such a
 * value as `given('its name')`. Refuses undefined in place of a value, because the driver would send null.
 */
export function compiledOnce<Values extends object, Row>(
  build: (given: GivenValue<keyof Values & string>) => RawBuilder<unknown>,
): (db: Db, values: Readonly<Values>) => Promise<Row[]> {
  let compiled: CompiledQuery | undefined
  return async (db, values) => {
    compiled ??= build((name) => sql.val(new Given(name))).compile(db)
    const parameters = compiled.parameters.map((one, at) => {
      const value = one instanceof Given ? values[one.name as keyof Values] : one
      if (value === undefined)
        throw new TypeError(`$${at + 1} has no value: ${one instanceof Given ? one.name : 'fixed'}`)
      return value
    })
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(compiled.sql, parameters))
    return rows
  }
}
