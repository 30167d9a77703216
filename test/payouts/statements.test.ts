import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../src/kit/errors.ts'
import { LARGEST_STATEMENT_BYTES } from '../../src/payouts/files/bank-statement-line.ts'
import { readStatement } from '../../src/payouts/files/bank-statement.ts'

const [ONE, TWO] = ['PO01K9X3F5F8E4TQZ8G3M7ABCDEF', 'PO01K9X3F5F8E4TQZ8G3M7ABCDEG']

const linesOf = async (text: string | Buffer) => (await readStatement(Buffer.from(text))).lines

async function refused(text: string | Buffer, why: RegExp): Promise<void> {
  await assert.rejects(linesOf(text), (error) => {
    assert(error instanceof Refusal && error.code === 'statement_not_readable', String(error))
    assert.match(error.message, why)
    return true
  })
}

const camt = (entries: string, version = '08') => `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.${version}">
 <BkToCstmrStmt><GrpHdr><MsgId>S1</MsgId></GrpHdr>
  <Stmt><Id>1</Id><Acct><Id><IBAN>NL91ABNA0417164300</IBAN></Id></Acct>
   <Bal><Amt Ccy="EUR">1000.00</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>${entries}</Stmt>
 </BkToCstmrStmt>
</Document>`

const entry = ({
  amount = '48.90',
  direction = 'DBIT',
  status = '<Sts><Cd>BOOK</Cd></Sts>',
  details = payment(),
  day = '<BookgDt><Dt>2026-11-24</Dt></BookgDt>',
  more = '',
} = {}) => `
   <Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>${more}${status}${day}
    <BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd>
    <NtryDtls>${details}</NtryDtls></Ntry>`

const payment = (more = '', reference = ONE) =>
  `<TxDtls><Refs><EndToEndId>${reference}</EndToEndId></Refs>${more}</TxDtls>`

const RETURN = '<RtrInf><Rsn><Cd>AC04</Cd></Rsn><AddtlInf>Account closed</AddtlInf></RtrInf>'
const booked = { reference: ONE, amountMinor: 4890, currency: 'EUR', status: 'booked', bookedOn: '2026-11-24', reason: undefined, account: 'NL91ABNA0417164300' } // oxfmt-ignore
const returned = { ...booked, status: 'returned', reason: 'AC04 Account closed' }

test('a statement says what has left and what came back, in each version of camt.053', async () => {
  for (const version of ['02', '04', '08', '13'])
    assert.deepEqual(
      await linesOf(camt(entry() + entry({ direction: 'CRDT', details: payment(RETURN) }), version)),
      [booked, returned],
      version,
    )
  // version 2: the status has no code inside, the amount of a payment stands elsewhere, and the day can be a moment
  assert.deepEqual(
    await linesOf(
      camt(
        entry({
          amount: '100.00',
          status: '<Sts>BOOK</Sts>',
          day: '<BookgDt><DtTm>2026-11-24T08:00:00+01:00</DtTm></BookgDt>',
          details:
            payment('<AmtDtls><TxAmt><Amt Ccy="EUR">48.90</Amt></TxAmt></AmtDtls>') +
            payment('<AmtDtls><InstdAmt><Amt Ccy="EUR">51.1</Amt></InstdAmt></AmtDtls>', TWO),
        }),
        '02',
      ),
    ),
    [booked, { ...booked, reference: TWO, amountMinor: 5110 }],
  )
  // a namespace with a prefix, and the sum of a batch beside its payments
  const batch = camt(
    entry({ amount: '100.00', details: `<Btch><NbOfTxs>2</NbOfTxs></Btch>${payment('<Amt Ccy="EUR">48.90</Amt><CdtDbtInd>DBIT</CdtDbtInd>')}${payment('<Amt Ccy="EUR">51.10</Amt>', TWO)}` }), // oxfmt-ignore
  )
  const prefixed = batch.replaceAll(/<(\/?)(?=[A-Z])/g, '<$1n:').replace('xmlns=', 'xmlns:n=')
  assert.deepEqual(await linesOf(prefixed), [booked, { ...booked, reference: TWO, amountMinor: 5110 }])
})

test('what is pending, without a reference, or comes in for another reason is left out', async () => {
  for (const text of [
    entry({ status: '<Sts><Cd>PDNG</Cd></Sts>' }),
    entry({ status: '' }),
    entry({ details: payment('', 'NOTPROVIDED') }),
    entry({ details: '' }),
    // a stranger pays to the account and writes the reference of a payout
    entry({ direction: 'CRDT' }),
    // a credit that is taken back
    entry({ more: '<RvslInd>true</RvslInd>' }),
    entry({ details: payment(RETURN) }),
  ])
    assert.deepEqual(await linesOf(camt(text)), [], text)
  assert.deepEqual(await linesOf(camt(entry({ direction: 'CRDT', more: '<RvslInd>true</RvslInd>' }))), [
    { ...returned, reason: undefined },
  ])
  assert.deepEqual(await linesOf(camt('')), [])
})

test('a file that could do harm, or is no statement, is refused whole', async () => {
  const laughs = `<!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>`
  await refused(camt(entry()).replace('<Document', `${laughs}<Document`), /document type/)
  await refused(camt(entry()).replace('<Document', '<!DOCTYPE d SYSTEM "file:///etc/passwd"><Document'), /document type/) // oxfmt-ignore
  await refused(camt(entry({ details: payment('', '&xxe;') })), /not well-formed/)
  await refused(camt(entry()).replace('camt.053.001.08', 'camt.054.001.08'), /no camt.053/)
  await refused(camt(entry()).replace('camt.053.001.08', 'pain.001.001.09'), /no camt.053/)
  await refused('<html></html>', /no camt.053/)
  await refused(camt(entry()).slice(0, -20), /not well-formed/)
  await refused('<', /not well-formed/)
  await refused(camt('<a>'.repeat(200) + '</a>'.repeat(200)), /too deeply/)
  await refused(camt(entry()) + camt(entry()), /not well-formed|no camt.053/)
  await refused(Buffer.from([0xff, 0xfe, 0x3c, 0x00]), /not UTF-8/)
  await refused(Buffer.alloc(LARGEST_STATEMENT_BYTES + 1, ' '), /larger than 10 MB/)
  await refused('', /empty/)
  await refused(' \n', /empty/)
  await refused('\0'.repeat(1000), /first line|no CSV/)
})

test('an amount or a day that cannot be read refuses the file, and names the payment', async () => {
  for (const amount of ['', '-48.90', '48,90', '1e3', 'NaN', '48.905', '9'.repeat(13), '0x10'])
    await refused(camt(entry({ amount })), /The amount of “PO01K9X3F5F8E4TQZ8G3M7ABCDEF”/)
  await refused(
    camt(entry()).replace('Ccy="EUR">48.90', 'Ccy="XXX">48.90'),
    /The amount of “PO01K9X3F5F8E4TQZ8G3M7ABCDEF”/,
  )
  await refused(camt(entry({ day: '' })), /The day of “PO01K9X3F5F8E4TQZ8G3M7ABCDEF”/)
  await refused(
    camt(entry({ day: '<BookgDt><Dt>2026-02-30</Dt></BookgDt>' })),
    /The day of “PO01K9X3F5F8E4TQZ8G3M7ABCDEF”/,
  )
  // two payments, and only the sum of both
  await refused(camt(entry({ details: payment() + payment('', TWO) })), /The amount of “PO01K9X3F5F8E4TQZ8G3M7ABCDEF”/)
  assert.equal((await linesOf(camt(entry({ amount: '48.90000' }))))[0]!.amountMinor, 4890)
})

test('a line of the operator’s own business is counted, and need not be readable', async () => {
  const others = [
    entry({ details: payment('', 'RENT-11') }),
    entry({ day: '', details: payment('', 'RENT-11') }),
    // a batch of salaries, with the sum alone
    entry({ details: payment('', 'PO1') + payment('', 'PO2') }),
    entry({ amount: '48.905', details: payment('', 'x') }),
    entry().replace(ONE, 'GOLD').replace('Ccy="EUR">48.90', 'Ccy="XAU">48.90'),
    entry({ direction: 'CRDT', day: '', details: payment(RETURN, 'RENT-10') }),
  ]
  const read = await readStatement(Buffer.from(camt(others.join('') + entry())))
  assert.deepEqual([read.lines, read.others], [[booked], 7])
  const csv = await readStatement(Buffer.from(`${CSV}RENT-11,1.00,EUR,booked,2026-11-24,\n`))
  assert.deepEqual([csv.lines.length, csv.others], [2, 1])
  await refused(camt(entry({ details: payment('', 'x').repeat(50_001) })), /more than 50000/)
})

test('a large statement is read while other work gets its turn', async () => {
  const row = `${ONE},48.90,EUR,booked,2026-11-24,é\n`
  for (const text of [camt(entry().repeat(20_000)), `${CSV.split('\n')[0]}\n${row.repeat(49_000)}`]) {
    assert(text.length > 1_500_000)
    let turns = 0
    let isDone = false
    const count = () => void (isDone || (turns++, setImmediate(count)))
    count()
    const lines = await linesOf(text)
    isDone = true
    assert.equal(lines.length, text.startsWith('<') ? 20_000 : 49_000)
    assert(turns > 10, String(turns))
  }
  await refused(`${CSV.split('\n')[0]}\n${row.repeat(50_001)}`, /more than 50000/)
  await refused(camt(`<Ntry>${'<NtryDtls/>'}</Ntry>`.repeat(10) + 'x'.repeat(2_000_000) + '<'), /not well-formed/)
})

const CSV = `reference,amount,currency,status,bookedOn,reason
${ONE},48.90,EUR,booked,2026-11-24,
${TWO},500,JPY,returned,2026-11-25,"no such
account"
`

test('a CSV statement is read with either separator, and other columns are left alone', async () => {
  const { account: _, ...line } = booked
  const expected = [
    line,
    { reference: TWO, amountMinor: 500, currency: 'JPY', status: 'returned', bookedOn: '2026-11-25', reason: 'no such account' }, // oxfmt-ignore
  ]
  assert.deepEqual(await linesOf(CSV), expected)
  assert.deepEqual(await linesOf(`\ufeff${CSV.replaceAll(',', ';').replaceAll('\n', '\r\n')}`), expected)
  assert.deepEqual(
    await linesOf(`Note,Reference,AMOUNT,Currency,Status,bookedon\nx, ${ONE} ,48.90,EUR,booked,2026-11-24\n\n`),
    [line],
  )
})

test('a reason with a card’s number is not kept', async () => {
  const [line] = await linesOf(CSV.replace('"no such\naccount"', '4000 0025 0000 3155').split('\n').toSpliced(1, 1).join('\n')) // oxfmt-ignore
  assert.deepEqual([line!.reference, line!.reason], [TWO, undefined])
})

test('a wrong line of a CSV refuses the file and names the line', async () => {
  const line = (text: string) => `${CSV.split('\n')[0]}\n${text}\n`
  await refused(line('PO1,48.90,EUR,booked,2026-11-24,\nPO2,x,EUR,booked,2026-11-24,'.replace('x', '4,8')), /no CSV/)
  await refused(line(',48.90,EUR,booked,2026-11-24,'), /Line 2 has no reference/)
  await refused(line('PO1,48.905,EUR,booked,2026-11-24,'), /Line 2: write the amount/)
  await refused(line('PO1,-1,EUR,booked,2026-11-24,'), /Line 2: write the amount/)
  await refused(line('PO1,1,eur,booked,2026-11-24,'), /Line 2: write the amount/)
  await refused(line('PO1,1,EUR,paid,2026-11-24,'), /Line 2: the status/)
  await refused(line('PO1,1,EUR,booked,24.11.2026,'), /Line 2: write the day/)
  await refused(CSV.replace('reference', 'amount'), /first line/)
  await refused('a,b\n1,2\n', /first line/)
  await refused('__proto__,constructor,toString\n1,2,3\n', /first line/)
  await refused(`${CSV}PO3,"unclosed`, /no CSV/)
  await refused(line(`PO1,1,EUR,booked,2026-11-24,${'x'.repeat(10_000)}`), /no CSV/)
})

test('the same bytes are known again, other bytes are not', async () => {
  const [one, again, other] = await Promise.all([CSV, CSV, `${CSV}\n`].map((text) => readStatement(Buffer.from(text))))
  assert.deepEqual(one!.sha256, again!.sha256)
  assert.notDeepEqual(one!.sha256, other!.sha256)
})
