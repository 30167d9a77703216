import swagger from '@fastify/swagger'
import type { Config } from '../config.ts'
import { CONNECTIONS_OF_A_NETWORK, type Server, newServer } from '../kit/http.ts'
import { registerLimits } from '../kit/limits.ts'
import type { Log } from '../kit/log.ts'
import { apiDescription } from '../pages/docs.ts'
import { sessionCookieName } from '../sellers/cookies.ts'
import { bringsKey } from '../sellers/keys/caller.ts'

/** Opens the server with everything that comes before the routes: parts that all requests share, limits, and the API's description. */
export async function openServer(
  { trustProxy, demoOnNetwork, isPublic, limits, cookieDomain }: Config,
  { baseUrl, appUrl }: { baseUrl: string; appUrl: string },
  log: Log,
): Promise<Server> {
  const sessionCookie = sessionCookieName({ baseUrl, cookieDomain })
  const server = await newServer({
    log,
    trustProxy,
    hosts: { addresses: [baseUrl, appUrl], anyAddress: demoOnNetwork },
    requests: limits.request,
    connections: isPublic || demoOnNetwork ? CONNECTIONS_OF_A_NETWORK : undefined,
    appUrl,
    sessionCookie,
    needsNoOrigin: bringsKey,
  })
  await registerLimits(server)
  await server.register(swagger, apiDescription(baseUrl, sessionCookie))
  return server
}
