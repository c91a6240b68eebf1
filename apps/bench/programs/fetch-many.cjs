// The floor of a batch: so many requests, so many at a time, each read to its end, and nothing else.
const [url, count, concurrency] = process.argv.slice(2)

const ask = async (n) => {
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "bench", stream: true, messages: [{ role: "user", content: `say ${n}` }] })
  })
  await response.text()
}

let next = 0
const worker = async () => {
  while (next < Number(count)) await ask(next++)
}

void Promise.all(Array.from({ length: Number(concurrency) }, worker))
