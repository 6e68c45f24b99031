-- Reserves money on every meter, or on none.
-- keys: the mark of a request that the rates refused, then per meter: the hash, its holds by end.
-- values: id, amount, milliseconds until void, then per meter: limit, floor, what the database says was spent ('' when
-- not asked, '-1' when it did not answer), microseconds since it was asked.
-- Replies {'refused'} where there is the mark, {'held', amount, spent and held of each meter after it}, {'denied', which
-- meter}, {'short', which meter} when another request has all that was left of it already, {'unknown', which ...}, or
-- {'doubtful', which ...} when the database should be asked again; meters are numbers from 0.
local id, least, remaining = values[1], amount(values[2]), tonumber(values[3])
if redis.call('EXISTS', keys[1]) == 1 then return {'refused'} end
local count = (#keys - 1) / 2
local spent, held, short, unknown, doubtful, before = {}, {}, {}, {'unknown'}, {'doubtful'}, nil
local reply = {'held'}
-- Time enough for the settlement to come late, and for the journal of a node that died to be read.
local graceOfDoubt = 60000000
-- What was settled before Redis was emptied may still be on its way into the database. Time enough for that.
local graceOfSeed = 5000000
-- So long after Redis was emptied the database is asked again, ever more seldom. Under load it never knows the latest
-- charges, which hides those that Redis lost.
local longestDoubt = 3600000000
local sinceEmptied = now - tonumber(string.match(epoch, '@(%d+)$') or 0)

-- The database is asked again after so long.
local function doubtFor(meter, grace)
  redis.call('HSET', meter, 'doubt', whole(now + grace - graceOfDoubt))
end

for at = 1, count do
  local meter, ends = keys[2 * at], keys[2 * at + 1]
  local seed, age = values[4 * at + 2], values[4 * at + 3]
  voidExpired(meter, ends, now)
  if seed ~= '' and seed ~= '-1' and redis.call('HSETNX', meter, 'spent', seed) == 1 then
    redis.call('HSET', meter, 'since', whole(now - age))
    redis.call('PEXPIRE', meter, 172800000)
    if sinceEmptied < graceOfDoubt then doubtFor(meter, graceOfSeed) end
    seed = ''
  end
  local found = redis.call('HMGET', meter, 'spent', 'held', 'of:' .. id, 'doubt', 'short')
  if not found[1] then
    unknown[#unknown + 1] = at - 1
  else
    spent[at], held[at] = amount(found[1]), amount(found[2] or '0')
    reply[2 * at + 1], reply[2 * at + 2] = found[1], found[2] or '0'
    before = before or found[3]
    short[at] = found[5] and redis.call('HEXISTS', meter, 'of:' .. found[5]) == 1
    if found[4] and seed ~= '' then
      -- Spending only grows, so the larger number knows more.
      if less(spent[at], amount(seed)) then
        spent[at], reply[2 * at + 1] = amount(seed), seed
        redis.call('HSET', meter, 'spent', seed)
        -- In return it may lack the last few that this one knew of.
        doubtFor(meter, graceOfSeed)
      elseif seed == '-1' then
        doubtFor(meter, graceOfSeed)
      elseif sinceEmptied < longestDoubt then
        doubtFor(meter, math.max(graceOfSeed, sinceEmptied))
      else
        redis.call('HDEL', meter, 'doubt')
      end
    elseif found[4] and now - tonumber(found[4]) >= graceOfDoubt then
      doubtful[#doubtful + 1] = at - 1
    end
  end
end
if #unknown > 1 then return unknown end
if #doubtful > 1 and not before then return doubtful end

if not before then
  local bound, shortOn = least, {}
  for at = 1, count do
    local left = minus(minus(amount(values[4 * at]), spent[at]), held[at])
    if less(left, amount(values[4 * at + 1])) or less(left, {0, 1}) then return {'denied', at - 1} end
    if less(left, bound) then
      if short[at] then return {'short', at - 1} end
      shortOn[#shortOn + 1] = keys[2 * at]
      if less(left, least) then least = left end
    end
  end
  for _, meter in ipairs(shortOn) do redis.call('HSET', meter, 'short', id) end
  for at = 1, count do
    reply[2 * at + 2] = putHold(keys[2 * at], keys[2 * at + 1], id, least, held[at], now, remaining)
  end
end
reply[2] = before or digits(least)
return reply
