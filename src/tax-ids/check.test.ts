import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CHECKED_COUNTRIES, EU_COUNTRIES, checkTaxId } from './check.ts'

// Published numbers: of companies' own sites, of the test lists of the authorities, and of examples in their rules.
const VALID: Record<string, string[]> = {
  AT: ['ATU13585627', 'U37675002'],
  BE: ['BE0403170701', 'BE 0428.759.497', 'BE 403 170 701'],
  BG: ['BG175074752'],
  CY: ['CY10259033P'],
  CZ: ['CZ25123891', 'CZ7103192745', 'CZ687836437', 'CZ681208919', '682127228', 'CZ699004237', 'CZ699000899'],
  DE: ['DE136695976', 'DE 811 569 869'],
  DK: ['DK13585628'],
  EE: ['EE100931558'],
  ES: ['ESA79082244', 'ESJ99216582', 'ES54362315K', 'ESX2482300W', 'B58378431'],
  FI: ['FI20774740'],
  FR: ['FR40303265045', 'FR 23 334 175 221', 'FRK7399859412'],
  GR: ['EL094259216', 'GR023456780', '094259216'],
  HR: ['HR33392005961'],
  HU: ['HU12892312'],
  IE: ['IE6433435F', 'IE6433435OA', 'IE8D79739I'],
  IT: ['IT00743110157'],
  LT: ['LT119511515', 'LT100001919017'],
  LU: ['LU15027442'],
  LV: ['LV40003521600', 'LV32000000001'],
  MT: ['MT11679112'],
  NL: ['NL004495445B01', 'NL000099998B57', 'NL4495445B01'],
  PL: ['PL8567346215', 'PL5260001246'],
  PT: ['PT501964843'],
  RO: ['RO18547290'],
  SE: ['SE123456789701'],
  SI: ['SI50223054'],
  SK: ['SK2022749619', 'SK1020000003'],
  GB: ['GB980780684', '802 3117 82', 'GBGD001', 'GBHA599'],
  XI: ['XI980780684', 'GB980780684'],
  IN: ['27AAPFU0939F1ZV', '27aapfu0939f1zv', '29AAACH7409R1ZX', '38AAPFU0939F1ZS', '97AAPFU0939F1ZO'],
  CH: ['CHE107787577', 'CHE-107.787.577 MWST', 'CHE-107.787.577 IVA', '107.787.577'],
  NO: ['995525828MVA', 'NO 974 760 673 MVA', '974760673'],
  AU: ['83 914 571 673', '51824753556'],
}

test('known tax ids of every checked country pass, however they are typed', () => {
  assert.deepEqual(Object.keys(VALID).sort(), [...CHECKED_COUNTRIES].sort())
  for (const [country, ids] of Object.entries(VALID))
    for (const id of ids) assert.partialDeepStrictEqual(checkTaxId(country, id), { ok: true, isChecked: true }, id)
})

test('a wrong digit, a missing digit and foreign letters are refused in every checked country', () => {
  for (const [country, [id = '']] of Object.entries(VALID)) {
    // the fifth digit from the left is a part of each sum
    const at = [...id.matchAll(/\d/g)][4]!.index
    const others = [...'0123456789']
      .filter((digit) => digit !== id[at])
      .map((digit) => id.slice(0, at) + digit + id.slice(at + 1))
    const refused = others.filter((one) => !checkTaxId(country, one).ok)
    // two British sums are in use, so one other digit can fit the second
    assert.ok(refused.length >= 8, `${country}: ${refused.length} of 9`)
    for (const wrong of ['', id.slice(0, -4), `${id}1234567`, 'DROP TABLE', 'ÄÖÜ', '٣٤٥٦٧٨٩', '💶'])
      assert.equal(checkTaxId(country, wrong).ok, false, `${country} ${wrong}`)
  }
})

test('an id is written the way invoices have it', () => {
  const written = (country: string, text: string) => {
    const checked = checkTaxId(country, text)
    return checked.ok && checked.normalized
  }
  assert.equal(written('DE', ' de 136.695.976 '), 'DE136695976')
  assert.equal(written('DE', '136695976'), 'DE136695976')
  assert.equal(written('GR', 'GR 094259216'), 'EL094259216')
  assert.equal(written('XI', 'GB980780684'), 'XI980780684')
  assert.equal(written('CH', 'CHE-107.787.577 MWST'), 'CHE107787577')
  assert.equal(written('NO', '974 760 673'), 'NO974760673MVA')
  assert.equal(written('BE', '403.170.701'), 'BE0403170701')
  assert.equal(written('GR', 'EL 94259216'), 'EL094259216')
  assert.equal(written('NL', 'NL4495445B01'), 'NL004495445B01')
  assert.equal(written('CZ', 'cz 681208919'), 'CZ681208919')
  assert.equal(written('AU', '51 824 753 556'), '51824753556')
  assert.equal(written('IN', '27aapfu0939f1zv'), '27AAPFU0939F1ZV')
})

test('an id is not taken for one of another country', () => {
  assert.equal(checkTaxId('FR', 'DE136695976').ok, false)
  assert.equal(checkTaxId('DE', 'GB980780684').ok, false)
  for (const country of EU_COUNTRIES) assert.equal(checkTaxId(country, '27AAPFU0939F1ZV').ok, false, country)
})

test('where no rule is known, an id is taken if it looks like one, and said to be unchecked', () => {
  assert.deepEqual(checkTaxId('US', '12-3456789'), { ok: true, normalized: '123456789', isChecked: false })
  assert.deepEqual(checkTaxId('JP', 'T1180301018771'), { ok: true, normalized: 'T1180301018771', isChecked: false })
  assert.deepEqual(checkTaxId('US', 'none'), { ok: false, problem: 'syntax' })
  assert.deepEqual(checkTaxId('US', '1'.repeat(31)), { ok: false, problem: 'syntax' })
  assert.deepEqual(checkTaxId('constructor', 'x'), { ok: false, problem: 'syntax' })
})

test('a wrong check digit is told from a wrong form', () => {
  assert.deepEqual(checkTaxId('DE', 'DE136695977'), { ok: false, problem: 'checksum' })
  assert.deepEqual(checkTaxId('DE', 'DE13669597'), { ok: false, problem: 'syntax' })
  for (const [country, id] of [
    ['IN', '27AAPFU0939F1ZW'],
    ['IN', '38AAPFU0939F1ZV'],
    ['CZ', 'CZ687836438'],
    ['SK', 'SK1020000004'],
  ] as const)
    assert.deepEqual(checkTaxId(country, id), { ok: false, problem: 'checksum' }, id)
  for (const [country, id] of [
    ['IN', '38AAPFU0939F1AV'],
    ['IN', '39AAPFU0939F1ZV'],
    ['SK', 'SK2012749619'],
    ['LV', 'LV320000000011'],
  ] as const)
    assert.deepEqual(checkTaxId(country, id), { ok: false, problem: 'syntax' }, id)
})
