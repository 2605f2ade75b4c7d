// A job's life with the client jackd.
//
// usage: node jackd_scenario.js PORT
'use strict'
const Jackd = require('jackd')
const { isDeepStrictEqual } = require('util')

const DELAY = 1

function check(name, found, wanted) {
    if (isDeepStrictEqual(found, wanted))
        console.log(`ok ${name}`)
    else
        console.log(`failed ${name}: ${JSON.stringify(found)} instead of ` +
                    JSON.stringify(wanted))
}

async function fails(promise) {
    try {
        await promise
        return false
    } catch (error) {
        return true
    }
}

// A value of statistics.  The client returns their text.
function value(statistics, key) {
    const found = new RegExp(`^${key}: "?(.*?)"?$`, 'm').exec(statistics)
    return found && found[1]
}

async function main() {
    const client = new Jackd()
    await client.connect({ host: '127.0.0.1', port: Number(process.argv[2]) })
    await client.use('mail')
    await client.watch('mail')
    await client.ignore('default')
    check('a new server has no jobs', value(await client.stats(), 'total-jobs'),
          '0')

    const body = 'a\r\nb\0' // the client would send a Buffer as JSON
    const start = process.hrtime.bigint()
    const id = await client.put(body, { priority: 7, delay: DELAY, ttr: 60 })
    check('a delayed job is not reserved',
          await fails(client.reserveWithTimeout(0)), true)
    check('peek-delayed finds it', (await client.peekDelayed()).id, id)
    check('its statistics say so', value(await client.statsJob(id), 'state'),
          'delayed')

    const job = await client.reserve()
    check('it is reserved', [job.id, String(job.payload)], [id, body])
    check('not before its delay ends',
          process.hrtime.bigint() - start >= BigInt(DELAY) * 1000000000n, true)
    await client.touch(id)

    await client.release(id, { priority: 3, delay: 0 })
    const released = await client.statsJob(id)
    check('a released job is ready',
          [value(released, 'state'), value(released, 'pri')], ['ready', '3'])

    await client.reserveWithTimeout(0)
    await client.bury(id, 3)
    check('peek-buried finds a buried job', (await client.peekBuried()).id, id)
    check('kick counts it', await client.kick(10), 1)
    check('peek-ready finds a kicked job', (await client.peekReady()).id, id)

    await client.reserveJob(id)
    await client.delete(id)
    check('a deleted job is gone', await fails(client.peek(id)), true)

    const tube = await client.statsTube('mail')
    check('the tube\'s statistics',
          ['name', 'total-jobs', 'cmd-delete'].map((key) => value(tube, key)),
          ['mail', '1', '1'])
    const server = await client.stats()
    check('the server\'s statistics', ['cmd-bury', 'current-jobs-ready'].map(
        (key) => value(server, key)), ['1', '0'])
    await client.quit()
}

main().catch((error) => {
    console.log(`failed the scenario: ${error}`)
    process.exit(1)
})
