import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_ENDPOINT, endpointFaults, endpointInput } from './typed-endpoint.ts'

test('an address that cannot be one is refused before it is sent', () => {
  const fault = (url: string) => endpointFaults({ ...NO_ENDPOINT, url }).url
  assert.match(fault('')!, /enter the address/)
  assert.match(fault('shop.example/hook')!, /begins with https/)
  assert.match(fault('https://')!, /not a complete/)
  assert.match(fault('https://shop.example/my hook')!, /not a complete/)
  assert.equal(fault(' https://shop.example/hook '), undefined)
  assert.match(endpointFaults({ ...NO_ENDPOINT, url: 'https://shop.example', events: [] }).events!, /at least one/)
})

test('an address with letters of any language is sent encoded', () => {
  const typed = { ...NO_ENDPOINT, url: ' https://käse.example/größe ', description: ' Cheese ' }
  assert.deepEqual(endpointInput(typed), {
    url: 'https://xn--kse-qla.example/gr%C3%B6%C3%9Fe',
    description: 'Cheese',
    events: ['*'],
  })
})
