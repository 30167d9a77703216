import assert from 'node:assert/strict'
import { test } from 'node:test'
import { read, write } from './storage.ts'

const disk = new Map<string, string>()
let isFull = false
const localStorage = {
  getItem: (name: string) => disk.get(name) ?? null,
  removeItem: (name: string) => void disk.delete(name),
  setItem(name: string, text: string) {
    if (isFull) throw new DOMException('The quota has been exceeded.', 'QuotaExceededError')
    disk.set(name, text)
  },
}
for (const [name, value] of Object.entries({ self: globalThis, top: globalThis, localStorage }))
  Object.defineProperty(globalThis, name, { value })

test('with a full disk the page reads what it wrote last, until there is room or another tab writes', () => {
  write('order', 1)
  isFull = true
  write('order', 2)
  assert.equal(read('order'), 2)
  write('order', 3)
  assert.equal(read('order'), 3)
  disk.set('order', '4')
  assert.equal(read('order'), 4, 'another tab wrote')
  write('order', 5)
  assert.equal(read('order'), 5)
  write('order', undefined)
  assert.equal(read('order'), undefined)
  write('new', 6)
  assert.equal(read('new'), 6)
  isFull = false
  write('new', 7)
  assert.deepEqual([read('new'), disk.get('new')], [7, '7'])
  disk.delete('new')
  assert.equal(read('new'), undefined, 'another tab removed it')
})
