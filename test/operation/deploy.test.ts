import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { Deployment } from 'kubernetes-models/apps/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { Service } from 'kubernetes-models/v1'
import { parse, parseAllDocuments } from 'yaml'
import { giveWayToSales } from '../../scripts/own-database.ts'
import { readConfig } from '../../src/config.ts'
import { startTestShop, temporaryFolder } from '../support/shop.ts'

// The examples in deploy/: each name in them is one that the service knows.

const ROOT = path.resolve(import.meta.dirname, '../..')
const read = (file: string) => fs.readFileSync(path.join(ROOT, file), 'utf8')
const isSetting = (name: string) => read('.env.example').includes(`#${name}=`)
/** The service answers for ten seconds after SIGTERM where PUBLIC=1, and then takes up to fifteen to close. */
const LONGEST_END_SECONDS = 25

interface Rule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; action: string }
}

interface Panel {
  title: string
  targets: { expr: string }[]
}

/** The metrics that an expression reads, without the suffixes that Prometheus adds for a histogram. */
const metricsIn = (expr: string) =>
  [...expr.matchAll(/\b(?:till|process|nodejs)_[a-z0-9_]+\b/g)].map(([name]) => name.replace(/_(?:bucket|count|sum)$/, '')) // oxfmt-ignore

test('alert rules and dashboard read only metrics, labels and routes that the service has', async (t) => {
  const shop = await startTestShop(t)
  const { body } = await shop.call<string>('GET', '/metrics')
  // only a service with BACKUP_URL has the metrics of the backup
  const ofBackup = [...read('src/backup/register.ts').matchAll(/name: '(till_\w+)'/g)]
  const there = new Set([...body.matchAll(/^# TYPE (\w+)/gm), ...ofBackup].map(([, name]) => name!))
  const { groups } = parse(read('deploy/prometheus-rules.yaml')) as { groups: { rules: Rule[] }[] }
  const rules = groups.flatMap((group) => group.rules)
  const { panels } = JSON.parse(read('deploy/grafana-dashboard.json')) as { panels: Panel[] }
  const all = [
    ...rules.map(({ alert, expr }) => [alert, expr] as const),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ]
  assert(rules.length >= 12 && panels.length >= 12)
  const { paths } = (await shop.call<{ paths: object }>('GET', '/api/openapi.json')).body
  for (const [title, expr] of all) {
    const names = metricsIn(expr)
    for (const name of names) assert(there.has(name), `${title}: the service has no metric ${name}`)
    assert(names.length > 0 || /^(?:sum\()?up\{/.test(expr), title)
    for (const [, route = ''] of expr.matchAll(/route="([^"]*)"/g)) assert(route in paths, `${title}: ${route}`)
    for (const [, queue = ''] of expr.matchAll(/queue="([^"]*)"/g))
      assert(body.includes(`queue="${queue}"`), `${title}: ${queue}`)
    for (const [, pattern = ''] of expr.matchAll(/queue[=!]~"([^"]*)"/g)) {
      const queues = [...body.matchAll(/^till_jobs_oldest_seconds\{queue="([^"]*)"\}/gm)].map(([, queue]) => queue!)
      const late = queues.filter((queue) => /^(withdrawal_)?mail$|_code_|^email_/.test(queue))
      const kinds = ['mail', 'withdrawal_mail', 'seller_code', 'mailbox_code', 'email_change', 'email_consent']
      for (const kind of kinds)
        assert(
          late.some((queue) => queue.startsWith(kind)),
          kind,
        )
      assert.deepEqual(queues.filter((queue) => new RegExp(`^(?:${pattern})$`).test(queue)).sort(), late.sort(), title)
    }
    for (const [, table = ''] of expr.matchAll(/table="([^"]*)"/g))
      assert(read('src/app/sweeps.ts').includes(`'${table}'`), `${title}: ${table}`)
  }
  for (const [, kind = ''] of read('deploy/prometheus-rules.yaml').matchAll(/\bkind="([^"]*)"/g))
    assert(read('src/backup/register.ts').includes(`'${kind}'`), kind)
  for (const { alert, labels, annotations } of rules) {
    assert(['page', 'day'].includes(labels.severity), alert)
    assert(annotations.summary && annotations.action, `${alert} says what is wrong and what to do`)
    for (const [, script = ''] of annotations.action.matchAll(/npm run ([\w-]+)/g))
      assert(script in JSON.parse(read('package.json')).scripts, `${alert}: npm run ${script}`)
  }
})

test('a number that stays unknown raises an alarm too, as an old one does', () => {
  const { groups } = parse(read('deploy/prometheus-rules.yaml')) as { groups: { rules: Rule[] }[] }
  const all = groups.flatMap(({ rules }) => rules.map(({ expr }) => expr))
  const timed = all.flatMap((expr) => [...expr.matchAll(/time\(\) - (max\([^)]*\))/g)].map(([, number]) => number!))
  assert.equal(timed.length, 3)
  for (const number of timed)
    assert(
      // the service sends no number for a kind of backup that never went well, and otherwise NaN
      all.some((expr) => {
        const lasting = number.replace(/\((.*)\)/, '(last_over_time($1[1h]))')
        return expr === `${lasting} != ${lasting}` || expr.endsWith(` unless ${number}`)
      }),
      number,
    )
})

test('the Kubernetes example has two instances without rights, that are replaced one after the other', () => {
  const [deployment, service, budget, ...more] = parseAllDocuments(read('deploy/kubernetes.yaml')).map((one) => {
    assert.deepEqual(one.errors, [])
    return one.toJS()
  })
  assert.deepEqual([deployment.kind, service.kind, budget.kind, more], ['Deployment', 'Service', 'PodDisruptionBudget', []]) // oxfmt-ignore
  assert.deepEqual([deployment.apiVersion, service.apiVersion, budget.apiVersion], ['apps/v1', 'v1', 'policy/v1'])
  const { replicas, selector, strategy, template } = deployment.spec
  const { spec: pod } = template
  assert.deepEqual([replicas, strategy.rollingUpdate.maxUnavailable, budget.spec.minAvailable], [2, 0, 1])
  for (const labels of [selector.matchLabels, service.spec.selector, budget.spec.selector.matchLabels])
    assert.deepEqual(labels, template.metadata.labels)
  const [till] = pod.containers
  assert.deepEqual(
    [till.startupProbe, till.readinessProbe, till.livenessProbe].map(({ httpGet }) => httpGet.path),
    ['/readyz', '/readyz', '/healthz'],
    'a database that is away takes no instance down',
  )
  assert.deepEqual(
    [
      till.securityContext.readOnlyRootFilesystem,
      till.securityContext.capabilities.drop,
      pod.securityContext.runAsUser,
    ],
    [true, ['ALL'], 10001],
  )
  const env = Object.fromEntries(till.env.map(({ name, value }: { name: string; value: string }) => [name, value]))
  for (const name of Object.keys(env)) assert(isSetting(name), name)
  assert.equal(String(till.ports[0].containerPort), env['PORT'])
  assert.equal(env['HOST'], '0.0.0.0', 'the HOST=127.0.0.1 of docs/deploy.md would refuse every probe')
  assert(Number(env['DRAIN_SECONDS']) + 15 < pod.terminationGracePeriodSeconds)
  const mounted = till.volumeMounts.map(({ name }: { name: string }) => name)
  assert.deepEqual(mounted, pod.volumes.map(({ name }: { name: string }) => name)) // oxfmt-ignore
  assert.equal(pod.enableServiceLinks, false)
})

test('each object of the Kubernetes example fits the schema that Kubernetes publishes for it', () => {
  const objects = parseAllDocuments(read('deploy/kubernetes.yaml')).map((one) => one.toJS())
  const check = (object: any) => new { Deployment, Service, PodDisruptionBudget }[object.kind as 'Service'](object).validate() // oxfmt-ignore
  assert.equal(objects.length, 3)
  for (const object of objects) check(object)
  const [wrong] = structuredClone(objects)
  wrong.spec.template.spec.containers[0].readinessProbe.periodSeconds = '3'
  assert.throws(() => check(wrong), /readinessProbe\/periodSeconds must be integer/)
})

test('docs/deploy.md leads to settings that the service takes, and to a Caddyfile with both names', async (t) => {
  const guide = read('docs/deploy.md')
  const blocks = [...guide.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block!)
  const lines = blocks
    .find((block) => block.startsWith('PUBLIC=1'))!
    .trim()
    .split('\n')
  const settings = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)))
  const folder = await temporaryFolder(t)
  const config = readConfig({ ...settings, SECRET: 's'.repeat(64), DATA_DIR: folder })
  assert.deepEqual([config.isPublic, config.baseUrl, config.appUrl, config.operators], [true, 'https://api.shop.example', 'https://pay.shop.example', ['you@shop.example']]) // oxfmt-ignore
  const [, sed = ''] = /^sudo (sed --in-place .*) \/etc\/caddy\/Caddyfile$/m.exec(guide)!
  const file = path.join(folder, 'Caddyfile')
  fs.copyFileSync(path.join(ROOT, 'deploy/Caddyfile'), file)
  assert.equal(spawnSync('/bin/sh', ['-c', `${sed} '${file}'`]).status, 0)
  assert.match(fs.readFileSync(file, 'utf8'), /^https:\/\/api\.shop\.example, https:\/\/pay\.shop\.example \{$/m)
  for (const [, name = ''] of guide.matchAll(/\/opt\/till\/((?:deploy|scripts)\/[\w.-]+|\.env\.example)/g))
    assert(fs.existsSync(path.join(ROOT, name)), name)
})

test('the systemd unit starts the service itself, leaves it the time to end, and takes its rights away', () => {
  const unit = read('deploy/till.service')
  const valuesOf = (name: string) => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!)
  assert.deepEqual(valuesOf('ExecStart'), [
    '/opt/till/node_modules/.bin/node --import=./scripts/use-built.mjs src/main.ts',
  ])
  assert(Number(valuesOf('TimeoutStopSec')[0]) > LONGEST_END_SECONDS)
  const variables = valuesOf('Environment').flatMap((line) => line.split(' '))
  for (const variable of variables) {
    const [name = ''] = variable.split('=')
    assert(isSetting(name) || /^(?:NODE|MALLOC)_/.test(name), name)
  }
  const [, inImage = ''] = /^ENV (.*)$/m.exec(read('Dockerfile'))!
  const ofMemory = (all: string[]) => all.filter((one) => one.startsWith('MALLOC_'))
  assert.deepEqual(ofMemory(variables), ofMemory(inImage.split(' ')), 'the image and the unit give memory back alike')
  assert.equal(ofMemory(variables).length, 2)
  // systemd's @resources has the call by which a backup lowers its priority
  assert.deepEqual(valuesOf('SystemCallFilter'), ['@system-service', '~@privileged @resources', 'setpriority'])
  for (const [name, value] of [
    ['User', 'till'],
    ['NoNewPrivileges', 'yes'],
    ['ProtectSystem', 'strict'],
    ['ProtectHome', 'yes'],
    ['CapabilityBoundingSet', ''],
    ['KillMode', 'mixed'],
  ])
    // oxfmt-ignore
    assert.deepEqual(valuesOf(name!), [value], name)
})

test('the proxies pass the host and the client’s address, and no file through a buffer', () => {
  const nginx = read('deploy/nginx.conf').replaceAll(/^\s*#.*$/gm, '')
  for (const line of [
    'proxy_http_version 1.1',
    'proxy_set_header Host $host',
    'proxy_set_header X-Forwarded-For $remote_addr',
    'proxy_request_buffering off',
    'proxy_buffering off',
    'client_max_body_size 0',
  ])
    assert.match(nginx, new RegExp(`^\\s*${line.replaceAll('$', '\\$')};$`, 'm'))
})

test('Caddy sends a single instance requests until its drain ends, and waits for it while it restarts', () => {
  const [, lines = ''] = /^\treverse_proxy \{\$TILL:127\.0\.0\.1:4000\} \{\n([^}]*)transport/m.exec(
    read('deploy/Caddyfile'),
  )!
  assert.match(lines, /^\t\tlb_try_duration 10s$/m)
  // /readyz is 503 as soon as the drain begins: Caddy would have no instance left
  assert.doesNotMatch(lines, /^\s*health_/m)
  assert.match(lines, /^\t\t#health_uri \/readyz$/m, 'for several instances')
})

test('where the system forbids a lower priority, a backup is made all the same', (t) => {
  const refusing = t.mock.method(os, 'setPriority', () => {
    throw new Error('EPERM')
  })
  giveWayToSales()
  assert.equal(refusing.mock.callCount(), 1)
})
