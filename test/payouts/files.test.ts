import assert from 'node:assert/strict'
import fs from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { memoryPages, validateXML } from 'xmllint-wasm'
import { bankCsv } from '../../src/payouts/files/bank-csv.ts'
import { type Payment, type SepaPayment, isSepa } from '../../src/payouts/files/payment.ts'
import { type SepaFile, sepaFile } from '../../src/payouts/files/sepa-file.ts'
import { sepaText } from '../../src/payouts/files/sepa-text.ts'

const SCHEMA = fs.readFileSync(fileURLToPath(new URL('sepa-credit-transfer.xsd', import.meta.url)), 'utf8')

async function problemsOf(xml: string): Promise<string[]> {
  const { errors } = await validateXML({
    xml: [{ fileName: 'file.xml', contents: xml }],
    schema: [SCHEMA],
    maxMemoryPages: memoryPages.MiB * 64,
  })
  return errors.map(({ message }) => message)
}

const payment = (more: Partial<SepaPayment> = {}): SepaPayment => ({
  reference: 'PO01K9X3F5F8E4TQZ8G3M7ABCDEF',
  amountMinor: 4890,
  currency: 'EUR',
  destination: { kind: 'iban', name: 'Ann Müller', country: 'DE', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
  ...more,
})
const named = (name: string): SepaPayment => payment({ destination: { ...payment().destination, name } })
const file = (more: Partial<SepaFile> = {}): Promise<string> =>
  sepaFile({
    messageId: 'FILE01K9X3F5F8E4TQZ8G3M7ABCDEF',
    createdAt: new Date('2026-11-23T10:00:00.000Z'),
    executeOn: '2026-11-24',
    payer: { name: 'Till GmbH & Co. KG', iban: 'NL91ABNA0417164300', bic: 'ABNANL2A' },
    payments: [payment()],
    ...more,
  })

test('a SEPA file is valid by its schema and says who pays whom how much', async () => {
  const xml = await file({
    payments: [payment(), payment({ reference: 'PO2', amountMinor: 1, destination: { kind: 'iban', name: 'Bo', country: 'ES', iban: 'ES9121000418450200051332' } })], // oxfmt-ignore
  })
  assert.deepEqual(await problemsOf(xml), [])
  assert.equal(
    xml,
    `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>
<GrpHdr><MsgId>FILE01K9X3F5F8E4TQZ8G3M7ABCDEF</MsgId><CreDtTm>2026-11-23T10:00:00.000Z</CreDtTm><NbOfTxs>2</NbOfTxs><CtrlSum>48.91</CtrlSum><InitgPty><Nm>Till GmbH Co. KG</Nm></InitgPty></GrpHdr>
<PmtInf><PmtInfId>FILE01K9X3F5F8E4TQZ8G3M7ABCDEF</PmtInfId><PmtMtd>TRF</PmtMtd><BtchBookg>false</BtchBookg><NbOfTxs>2</NbOfTxs><CtrlSum>48.91</CtrlSum><PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf><ReqdExctnDt><Dt>2026-11-24</Dt></ReqdExctnDt><Dbtr><Nm>Till GmbH Co. KG</Nm></Dbtr><DbtrAcct><Id><IBAN>NL91ABNA0417164300</IBAN></Id></DbtrAcct><DbtrAgt><FinInstnId><BICFI>ABNANL2A</BICFI></FinInstnId></DbtrAgt><ChrgBr>SLEV</ChrgBr>
<CdtTrfTxInf><PmtId><InstrId>PO01K9X3F5F8E4TQZ8G3M7ABCDEF</InstrId><EndToEndId>PO01K9X3F5F8E4TQZ8G3M7ABCDEF</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">48.90</InstdAmt></Amt><CdtrAgt><FinInstnId><BICFI>COBADEFFXXX</BICFI></FinInstnId></CdtrAgt><Cdtr><Nm>Ann Muller</Nm></Cdtr><CdtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></CdtrAcct><RmtInf><Ustrd>Payout PO01K9X3F5F8E4TQZ8G3M7ABCDEF</Ustrd></RmtInf></CdtTrfTxInf>
<CdtTrfTxInf><PmtId><InstrId>PO2</InstrId><EndToEndId>PO2</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">0.01</InstdAmt></Amt><Cdtr><Nm>Bo</Nm></Cdtr><CdtrAcct><Id><IBAN>ES9121000418450200051332</IBAN></Id></CdtrAcct><RmtInf><Ustrd>Payout PO2</Ustrd></RmtInf></CdtTrfTxInf></PmtInf>
</CstmrCdtTrfInitn></Document>
`,
  )
})

test('the same payments make the same bytes, and a bank without a BIC is named by the IBAN', async () => {
  assert.equal(await file(), await file())
  const xml = await file({ payer: { name: 'Till', iban: 'NL91ABNA0417164300' } })
  assert.deepEqual(await problemsOf(xml), [])
  assert.match(xml, /<DbtrAgt><FinInstnId><Othr><Id>NOTPROVIDED<\/Id><\/Othr><\/FinInstnId><\/DbtrAgt>/)
})

test('the schema finds what a bank would refuse', async () => {
  const xml = await file()
  for (const [part, wrong] of [
    ['<PmtMtd>TRF</PmtMtd>', ''],
    ['Ccy="EUR"', 'Ccy="USD"'],
    ['>48.90</InstdAmt>', '>48.905</InstdAmt>'],
    ['>48.90</InstdAmt>', '>-48.90</InstdAmt>'],
    ['<Nm>Ann Muller</Nm>', '<Nm>Ann Müller</Nm>'],
    ['<Nm>Ann Muller</Nm>', `<Nm>${'a'.repeat(71)}</Nm>`],
    ['DE89370400440532013000', 'de89'],
    ['SLEV', 'SHAR'],
    ['2026-11-24', '24.11.2026'],
    ['<CtrlSum>', '<Extra/><CtrlSum>'],
  ] as const)
    assert.notDeepEqual(await problemsOf(xml.replace(part, wrong)), [], wrong)
})

test('whatever a seller’s name holds, the file is valid and the name stays text', async () => {
  const names = [
    'Łukasz Żółć',
    'Ελένη Παπαδοπούλου',
    'Иван Петров',
    '山田 太郎',
    'علي',
    'O’Brien & Söhne <b>“Ltd”</b>',
    ']]></Nm><Nm>Eve',
    '&lt;script&gt;',
    '//evil//',
    '/',
    '💥',
    'ß'.repeat(70),
    '\u202eAnn',
    '=HYPERLINK("x")',
  ]
  const payments = names.map((name, at) => ({ ...named(name), reference: `PO${at}` }))
  assert.deepEqual(await problemsOf(await file({ payments })), [])
  assert.equal(await sepaText('Łukasz Żółć', 70), 'Lukasz Zolc')
  assert.equal(await sepaText('Иван Петров', 70), 'Ivan Petrov')
  assert.equal(await sepaText(']]></Nm><Nm>Eve', 70), 'Nm Nm Eve')
  assert.match(await file({ payments: [named('/')] }), /<Cdtr><Nm>Account holder<\/Nm>/)
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (name) => {
      const text = await sepaText(name, 70)
      assert(text.length <= 70 && /^$|^(?!\/)[A-Za-z0-9/\-?:().,'+ ]+(?<!\/)$/.test(text) && !text.includes('//'), text)
    }),
    { numRuns: 2000 },
  )
})

test('an amount that SEPA does not take, another currency or a wrong reference never gets into a file', async () => {
  for (const more of [
    { amountMinor: 0 },
    { amountMinor: -1 },
    { amountMinor: 1.5 },
    { amountMinor: 100_000_000_000 },
    { currency: 'USD' },
    { reference: '' },
    { reference: 'PO 1' },
    { reference: 'x'.repeat(36) },
    { reference: '<a>' },
  ])
    await assert.rejects(file({ payments: [payment(more)] }), JSON.stringify(more))
  await assert.rejects(file({ payments: [] }))
  await assert.rejects(file({ messageId: 'a/b' }))
  assert.deepEqual(await problemsOf(await file({ payments: [payment({ amountMinor: 99_999_999_999 })] })), [])
})

const others: Payment[] = [
  { reference: 'PO1', amountMinor: 49900, currency: 'INR', destination: { kind: 'upi', name: 'Asha Rao', country: 'IN', upiId: 'asha.rao@okbank' } }, // oxfmt-ignore
  { reference: 'PO2', amountMinor: 100, currency: 'INR', destination: { kind: 'india_account', name: '=cmd|\' /C calc\'!A0', country: 'IN', ifsc: 'HDFC0001234', accountNumber: '00100012345678' } }, // oxfmt-ignore
  { reference: 'PO3', amountMinor: 500, currency: 'JPY', destination: { kind: 'other', name: 'Zoe, "Z"', country: 'US', lines: ['+1 Bank', 'AC12345678'] } }, // oxfmt-ignore
]

test('a CSV has every digit that the bank needs, and nothing that a spreadsheet runs', async () => {
  const csv = await bankCsv(others)
  assert.deepEqual(csv.split('\r\n'), [
    'reference,amount,currency,name,country,kind,iban,bic,upiId,ifsc,accountNumber,details',
    'PO1,499.00,INR,Asha Rao,IN,upi,,,asha.rao@okbank,,,',
    "PO2,1.00,INR,'=cmd|' /C calc'!A0,IN,india_account,,,,HDFC0001234,00100012345678,",
    `PO3,500,JPY,"Zoe, ""Z""",US,other,,,,,,'+1 Bank | AC12345678`,
    '',
  ])
  assert.equal(csv, await bankCsv(others))
})

test('a SEPA file takes euros to an IBAN, and a CSV takes the rest', () => {
  const elsewhere: Payment['destination'] = { kind: 'other', name: 'Zoe', country: 'US', lines: ['x'] }
  assert.deepEqual(
    [payment(), payment({ currency: 'CHF' }), { ...payment(), destination: elsewhere }, ...others].map(isSepa),
    [true, false, false, false, false, false],
  )
})
