# The program of both tools. Its standard input is a line such as {"city": "Lisbon"}.
city=$(sed -n 's/.*"city" *: *"\([^"]*\)".*/\1/p')
case "$city" in
    *Lisbon*) echo "Lisbon: sunny, 24 degrees." ;;
    *Porto*) echo "Porto: cloudy, 19 degrees." ;;
    *Oslo*) echo "Oslo: snow, -3 degrees." ;;
    *Bergen*) echo "Bergen: rain, 8 degrees." ;;
    *Havana*) echo "Havana: stormy, 29 degrees." ;;
    *Lima*) echo "Lima: foggy, 17 degrees." ;;
    *Cairo*) echo "Cairo: dusty, 35 degrees." ;;
    *Paris*) echo "Paris: drizzle, 14 degrees." ;;
    *Rome*) echo "Rome: clear, 26 degrees." ;;
    *Tallinn*) echo "Tallinn: sleet, 1 degrees." ;;
    *Accra*) echo "Accra: humid, 31 degrees." ;;
    *Quito*) echo "Quito: hail, 12 degrees." ;;
    *Riga*) echo "Riga: windy, 9 degrees." ;;
    *Kyoto*) echo "Kyoto: thunder, 22 degrees." ;;
    *Perth*) echo "Perth: hot, 38 degrees." ;;
    *Nuuk*) echo "Nuuk: blizzard, -14 degrees." ;;
    *Delhi*) echo "Delhi: hazy, 33 degrees." ;;
    *Dublin*) echo "Dublin: showers, 11 degrees." ;;
    *Sofia*) echo "Sofia: frost, -1 degrees." ;;
    *Tunis*) echo "Tunis: breezy, 27 degrees." ;;
    *) echo "There is no such city." >&2; exit 1 ;;
esac
