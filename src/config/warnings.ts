import { sellsOnTrial } from '../processors/settings.ts'
import type { Config } from './shape.ts'

/** Settings that are allowed and seldom meant. The service names them at each start. */
export function warningsOf(config: Config): string[] {
  const warnings: string[] = []
  if (operatorsCannotEnter(config))
    warnings.push(
      'OPERATORS: APP_URL has another host than BASE_URL and never sees the session, so /operator/ and the links in the operators’ mails lead to a 404: set COOKIE_DOMAIN to the domain of both',
    )
  if (sellsOnTrial(config))
    warnings.push(
      'PROCESSORS: the payments of this public service are tests: buyers get files and no money moves, while the books owe it to the sellers; use live keys and a new database before you sell',
    )
  return warnings
}

/** Whether the operators' page, which the host of APP_URL serves, gets no session: without COOKIE_DOMAIN it stays at the host of BASE_URL. */
export function operatorsCannotEnter({
  operators,
  cookieDomain,
  baseUrl,
  appUrl = baseUrl,
}: Pick<Config, 'operators' | 'cookieDomain' | 'baseUrl' | 'appUrl'>): boolean {
  if (operators.length === 0 || cookieDomain || !baseUrl || !appUrl) return false
  return new URL(baseUrl).hostname !== new URL(appUrl).hostname
}
