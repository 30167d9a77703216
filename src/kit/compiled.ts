import { CompiledQuery, type RawBuilder, sql } from 'kysely'
import type { Db } from './database.ts'

class Given {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** Stands for a value while a statement is built. */
export type GivenValue<Name extends string> = (name: Name) => RawBuilder<unknown>

/**
 * A statement that is built and compiled for its first run, and then only gets its values. To build and compile the statement of an
 * order takes a tenth of a checkout's CPU time. So `build` must depend on nothing that changes between the runs: a value that changes is
 * written as `given('its name')`. No value may be undefined, which the driver would send as null.
 */
export function compiledOnce<Name extends string, Row>(
  build: (given: GivenValue<Name>) => RawBuilder<unknown>,
): (db: Db, values: Readonly<Partial<Record<Name, unknown>>>) => Promise<Row[]> {
  let compiled: CompiledQuery | undefined
  return async (db, values) => {
    compiled ??= build((name) => sql.val(new Given(name))).compile(db)
    const parameters = compiled.parameters.map((one) => {
      if (!(one instanceof Given)) return one
      const value = values[one.name as Name]
      if (value === undefined) throw new TypeError(`the statement needs ${one.name}`)
      return value
    })
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(compiled.sql, parameters))
    return rows
  }
}
